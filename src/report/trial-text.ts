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

/** The model is left out when the agent chose it. */
export function agentName({ agent, model }: Pick<TrialHeader, 'agent' | 'model'>): string {
  return model === 'default' || model === '' ? plainLine(agent) : `${plainLine(agent)}, ${plainLine(model)}`
}

export function verdictMark(verdict: Verdict, ascii = false): string {
  return (ascii ? asciiMarks : marks)[verdict]
}

const marks: Readonly<Record<Verdict, string>> = { pass: '✓', fail: '✗', infra: '!', invalid: '?' }
const asciiMarks: Readonly<Record<Verdict, string>> = { pass: '+', fail: 'x', infra: '!', invalid: '?' }

/** How often the tool was used and how well it went; null when unknown. */
export function metricsSentence({ metrics }: TrialRecord): string | null {
  if (metrics.source === 'none') return null
  if (metrics.total_commands === 0) return 'the tool was never called'
  const parts = [
    counted(metrics.total_commands, 'command'),
    `${counted(metrics.error_count, 'error')} (${formatPercent(metrics.error_rate)})`,
    counted(metrics.retry_count, 'retry', 'retries'),
    `${counted(metrics.help_invocations, 'call')} for help`,
    `${formatPercent(metrics.first_try_success_rate)} right at the first try`,
  ]
  return parts.join(', ') + (metrics.source === 'transcript' ? ' (guessed from the transcript)' : '')
}

/** Set only when the agent did not end by itself with code 0. */
export function endingSentence({ ending, agentExitCode }: TrialRecord): string | null {
  switch (ending) {
    case 'exited':
      return agentExitCode === null || agentExitCode === 0
        ? null
        : `the agent ended with exit code ${agentExitCode}`
    case 'timed_out':
      return 'the agent was stopped at its time limit'
    case 'over_budget':
      return 'the agent was stopped at its cost limit'
    case 'over_turns':
      return 'the agent was stopped at its turn limit'
    case 'cancelled':
      return 'the agent was stopped because the run was interrupted'
    case 'crashed':
      return 'the agent was killed by a signal'
    case 'not_started':
      return 'the agent was never started'
  }
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
