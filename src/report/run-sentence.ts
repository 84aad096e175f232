import type { Comparison } from '../core/comparison.ts'
import { counted, formatCount } from '../core/counted.ts'
import { formatDuration } from '../core/duration.ts'
import { enoughLabels, poorKappa } from '../core/stats/judge-agreement.ts'
import type { AgentRate, BaselineComparison, JudgeTrust, RunSummary, RunVerdict } from '../core/summary.ts'
import type { FinishedRun } from './contract.ts'
import { plainLine } from './plain-text.ts'
import { formatCost, formatInterval, formatPercent, formatPoints, formatRate } from './quantity.ts'
import { agentName } from './trial-sentences.ts'

/** The ending of the run in one word: its verdict, or `interrupted`. A comparison decides in place of single failures. */
export function runEnding(run: FinishedRun): RunVerdict | 'interrupted' {
  const { summary, interrupted, failedRegressions = 0, comparisons = [] } = run
  if (interrupted === true) return 'interrupted'
  if (summary.verdict === 'infra' || summary.verdict === 'invalid') return summary.verdict
  const verdicts = comparisons.map(({ verdict }) => verdict)
  if (failedRegressions > 0 || verdicts.includes('worse')) return 'fail'
  if (verdicts.length === 0 || summary.verdict === 'partial') return summary.verdict
  return verdicts.includes('inconclusive') ? 'inconclusive' : 'pass'
}

export function runSentence(run: FinishedRun): string {
  const { comparisons = [], summary, failedRegressions = 0 } = run
  return [
    ownSentence(run),
    ...comparisons.map(comparisonSentence),
    ...(failedRegressions > 0
      ? [`${counted(failedRegressions, 'regression')}: with --fail-on regression the run fails.`]
      : []),
    ...(comparisons.length > 0 && summary.verdict === 'fail' && failedRegressions === 0
      ? ['The comparison decides the exit code, not single failures.']
      : []),
  ].join(' ')
}

/** `new-docs is better than base: +12 points (+3 to +20).` */
function comparisonSentence({ verdict, difference, ...sides }: Comparison): string {
  const { value, low, high } = difference
  const [before, after] = [plainLine(sides.before.name), plainLine(sides.after.name)]
  if (value === null) return `${after} and ${before} have nothing that can be compared.`
  const points = `${formatPoints(value)} points (${formatPoints(low)} to ${formatPoints(high)})`
  const words = {
    better: `is better than ${before}`,
    worse: `is worse than ${before}`,
    same: `is the same as ${before} within the margin`,
    inconclusive: `and ${before}: cannot tell yet which is better`,
  }
  return `${after} ${words[verdict]}, ${points}.`
}

function ownSentence({ summary, interrupted, notRunWhy = [], sentence }: FinishedRun): string {
  if (sentence !== undefined) return sentence
  if (interrupted === true) return interruptedSentence(summary)
  if (summary.notRun === 0 || notRunWhy.length === 0) return verdictSentence(summary)
  const notRun = `${counted(summary.notRun, 'planned trial')} did not run: ${notRunWhy.join('; ')}.`
  return summary.verdict === 'partial' ? notRun : `${verdictSentence(summary)} ${notRun}`
}

function verdictSentence(summary: RunSummary): string {
  const { pass, fail, infra, invalid } = summary.counts
  const share = `${formatCount(fail)} of ${counted(pass + fail, 'counted trial')} failed`
  const { threshold } = summary
  switch (summary.verdict) {
    case 'pass':
      if (fail === 0) return `${counted(pass, 'counted trial')} passed, none failed.`
      return threshold === undefined
        ? `${share}.`
        : `${share}, within the threshold of ${formatPercent(threshold)}.`
    case 'fail':
      return fail > 0
        ? `${share}${threshold === undefined ? '' : `, more than the threshold of ${formatPercent(threshold)} allows`}.`
        : `No trial failed, but there ${summary.regressions.length === 1 ? 'is' : 'are'} ${counted(summary.regressions.length, 'regression')}.`
    case 'infra':
      return `${formatCount(infra)} of ${counted(summary.trials, 'trial')} failed for infrastructure reasons: too many to judge the agent.`
    case 'invalid':
      return `${counted(invalid, 'trial')} could not be judged because the case itself is broken.`
    case 'partial':
      return [
        ...(invalid > 0 ? [`${counted(invalid, 'trial')} tried nothing.`] : []),
        ...(summary.notRun > 0 ? [`${counted(summary.notRun, 'planned trial')} did not run.`] : []),
      ].join(' ')
    case 'inconclusive':
      return `${counted(pass + fail, 'counted trial')} are too few to decide.`
  }
}

export function notRunReason({ interrupted, notRunWhy = [] }: FinishedRun): string {
  if (notRunWhy.length > 0) return `not run: ${notRunWhy.join('; ')}`
  return interrupted === true
    ? 'not run: the run was interrupted'
    : 'not run: budget, time limit or interruption'
}

/** One rate per agent and model: a mean of several agents would describe none of them. */
export function passRates({
  passRate,
  agents = [],
  cases,
}: RunSummary): readonly (readonly [label: string, value: string])[] {
  if (passRate.value === null) return [['Pass rate', 'nothing was counted']]
  const tried = new Set(cases.filter((row) => row.passRate.n > 0).map((row) => row.case)).size
  if (agents.length < 2) {
    return [
      [
        'Pass rate',
        `${formatRate(passRate)}, mean of ${counted(tried, 'case')} with 95% interval${likeThese(agents[0])}`,
      ],
    ]
  }
  return agents.map((each) => [
    'Pass rate',
    `${formatRate(each.passRate)} ${agentName(each)}, mean of ${counted(each.cases, 'case')} with 95% interval${likeThese(each)}`,
  ])
}

function likeThese(agent: AgentRate | undefined): string {
  const rate = agent?.passRateForCasesLikeThese ?? null
  return rate === null ? '' : ` on these cases; for cases like these ${formatInterval(rate)}`
}

/** Totals as label and value, in reading order. All rates are of counted trials. */
export function totals(summary: RunSummary): readonly (readonly [label: string, value: string])[] {
  const { pass, fail } = summary.counts
  return [
    [
      'Trials',
      `${formatCount(pass + fail)} counted: ${formatCount(pass)} passed, ${formatCount(fail)} failed`,
    ],
    ...row('Note', notCounted(summary)),
    ...passRates(summary),
    ...row(
      'Flaky',
      summary.flakeRate === null
        ? null
        : `${formatPercent(summary.flakeRate)} of repeated cases both passed and failed`,
    ),
    ['Cost', costSentence(summary)],
    ...row(
      'Judge',
      summary.judge === undefined ? null : `${summary.judge.model}, ${trustSentence(summary.judge)}`,
    ),
    ...row('Baseline', summary.baseline === undefined ? null : baselineSentence(summary.baseline)),
    [
      'Time',
      formatDuration(summary.durationMs) +
        (summary.cached > 0 ? `, ${counted(summary.cached, 'trial')} from the cache` : ''),
    ],
    ...row(
      'Retries',
      summary.infraRetries > 0
        ? `${counted(summary.infraRetries, 'retry', 'retries')} after infrastructure failures`
        : null,
    ),
  ]
}

/** `14 trials were not run and are not counted.`; null when every trial counts. */
function notCounted({ counts, notRun }: RunSummary): string | null {
  const groups = [
    { n: counts.infra, text: `${counted(counts.infra, 'trial')} failed for infrastructure reasons` },
    { n: counts.invalid, text: `${counted(counts.invalid, 'trial is', 'trials are')} invalid` },
    { n: notRun, text: `${counted(notRun, 'trial was', 'trials were')} not run` },
  ].filter(({ n }) => n > 0)
  const [first, ...others] = groups
  if (first === undefined) return null
  if (others.length === 0) return `${first.text} and ${first.n === 1 ? 'is' : 'are'} not counted.`
  return `${groups.map(({ text }) => text).join(', ')}. These are not counted.`
}

function interruptedSentence({ trials, notRun, counts }: RunSummary): string {
  const done = `${formatCount(trials)} of ${counted(trials + notRun, 'planned trial')} finished`
  return trials === 0
    ? `${done}.`
    : `${done}: ${formatCount(counts.pass)} passed, ${formatCount(counts.fail)} failed.`
}

/** Next steps. A face may replace them with `nextSteps`. */
export function nextSteps(run: FinishedRun): readonly string[] {
  if (run.nextSteps !== undefined) return run.nextSteps
  const { counts, notRun, verdict } = run.summary
  return [
    ...(counts.fail > 0 && run.comparisons === undefined
      ? ['Run only the failed trials again: add --rerun-failed']
      : []),
    ...(counts.invalid > 0 ? ['Fix the cases marked invalid; their reasons are above'] : []),
    ...(counts.infra > 0
      ? [`Fix what broke the infra trials, then continue with --resume ${run.runId}`]
      : []),
    ...((notRun > 0 || run.interrupted === true) && counts.infra === 0
      ? [`Continue with --resume ${run.runId} to run the remaining trials`]
      : []),
    ...(verdict === 'inconclusive' ? ['Add cases or repetitions; more cases help more'] : []),
  ]
}

function costSentence({ costUsd, unmeteredTrials }: RunSummary): string {
  if (costUsd === null) return 'unmetered: no trial reported a price'
  return (
    formatCost(costUsd) + (unmeteredTrials > 0 ? `, and ${counted(unmeteredTrials, 'trial')} unmetered` : '')
  )
}

function row(label: string, value: string | null): [string, string][] {
  return value === null ? [] : [[label, value]]
}

export function trustSentence({ labels, kappa }: Omit<JudgeTrust, 'model'>): string {
  if (labels < enoughLabels) return `uncalibrated judge: ${labels} of ${enoughLabels} labels (gantry label)`
  if (kappa === null) return 'uncalibrated judge: all labels or all answers are the same'
  const trust = kappa < poorKappa ? 'does not agree well with people' : 'agrees with people'
  return `${trust}: kappa ${kappa.toFixed(2)} of ${counted(labels, 'label')}`
}

const maxMissing = 3

/** What was compared, and what was not because the baseline does not have it or it changed since. */
function baselineSentence({ runId, compared, missing, changed = [] }: BaselineComparison): string {
  const total = compared + missing.length + changed.length
  if (total === compared) return `compared with ${runId}: ${counted(total, 'result')}`
  const what =
    compared === 0
      ? `nothing was compared with ${runId}`
      : `compared ${compared} of ${counted(total, 'result')} with ${runId}`
  const reasons = [
    ...(missing.length > 0 ? [`which does not have ${someOf(missing)}`] : []),
    ...(changed.length > 0 ? [`changed since: ${someOf(changed)}`] : []),
  ]
  return `${what}, ${reasons.join('; ')}`
}

function someOf(all: BaselineComparison['missing']): string {
  const named = all.slice(0, maxMissing).map((one) => `${plainLine(one.case)} (${agentName(one)})`)
  return named.join(', ') + (all.length > named.length ? ` and ${all.length - named.length} more` : '')
}
