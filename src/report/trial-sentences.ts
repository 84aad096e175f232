import { dirname, relative, sep } from 'node:path'
import { counted } from '../core/counted.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { Verdict } from '../core/verdict.ts'
import type { TrialHeader } from './contract.ts'
import { plainLine } from './plain-text.ts'
import { formatPercent } from './quantity.ts'

/** `create-note (claude-code, opus) #2`: one name for a trial in every report. */
export function trialName(trial: Omit<TrialHeader, 'id'>): string {
  return `${plainLine(trial.case)} (${agentName(trial)})${trial.attempt > 1 ? ` #${trial.attempt}` : ''}`
}

/** The model is omitted when the agent chose it. */
export function agentName({ agent, model }: Pick<TrialHeader, 'agent' | 'model'>): string {
  return model === 'default' || model === '' ? plainLine(agent) : `${plainLine(agent)}, ${plainLine(model)}`
}

/** The models that really answered, when the agent chose them. */
export function modelsUsed({ model, usage = [] }: TrialRecord): string {
  const used = usage.map((row) => plainLine(row.model)).join(', ')
  return model === 'default' && used !== '' ? used : model
}

export function verdictMark(verdict: Verdict, ascii = false): string {
  return (ascii ? asciiMarks : marks)[verdict]
}

const marks: Readonly<Record<Verdict, string>> = { pass: '✓', fail: '✗', infra: '!', invalid: '?' }
const asciiMarks: Readonly<Record<Verdict, string>> = { pass: '+', fail: 'x', infra: '!', invalid: '?' }

/** How often and how well the tool was used; null when unknown. */
export function trialMetricsSentence({ metrics }: TrialRecord): string | null {
  if (metrics.source === 'none') return null
  if (metrics.total_commands === 0) return 'the tool was never called'
  const { error_rate: errors, first_try_success_rate: firstTry } = metrics
  const parts = [
    counted(metrics.total_commands, 'command'),
    errors === null
      ? 'exit codes unknown'
      : `${counted(metrics.error_count, 'error')} (${formatPercent(errors)})`,
    counted(metrics.retry_count, 'retry', 'retries'),
    `${counted(metrics.help_invocations, 'call')} for help`,
    ...(firstTry === null ? [] : [`${formatPercent(firstTry)} right at the first try`]),
  ]
  return parts.join(', ') + (metrics.source === 'transcript' ? ' (guessed from the transcript)' : '')
}

/** Set only when the agent did not end by itself with code 0. */
export function trialEndingSentence({ ending, agentExitCode }: TrialRecord): string | null {
  if (ending !== 'exited') return `the agent was ${endings[ending]}`
  const isClean = agentExitCode === null || agentExitCode === 0
  return isClean ? null : `the agent ended with exit code ${agentExitCode}`
}

const endings: Readonly<Record<Exclude<TrialRecord['ending'], 'exited'>, string>> = {
  timed_out: 'stopped at its time limit',
  over_budget: 'stopped at its cost limit',
  over_turns: 'stopped at its turn limit',
  cancelled: 'stopped because the run was interrupted',
  crashed: 'killed by a signal',
  not_started: 'never started',
}

/** The judge's result; null without a judge. */
export function judgeSentence({ judge }: TrialRecord): string | null {
  if (judge === null) return null
  const relation = judge.passed ? 'reaches' : 'is below'
  const agreement = judge.agreement === null ? '' : `, agreement ${judge.agreement.toFixed(2)}`
  return `score ${judge.weighted_score.toFixed(2)} ${relation} the threshold ${judge.threshold.toFixed(2)} (${plainLine(judge.model)}${agreement})`
}

/** Path from a report to a trial's directory, with `/`, so that a run directory can be moved with its reports. */
export function trialLink(reportPath: string): (record: TrialRecord) => string {
  const from = dirname(reportPath)
  return ({ dir }) => relative(from, dir).split(sep).join('/') || '.'
}
