import type { CaseSummary, RunSummary } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { Verdict } from '../core/verdict.ts'
import { formatMean, formatPercent } from './quantity.ts'

export function passedAlways({ counts }: CaseSummary): boolean {
  return counts.pass > 0 && counts.fail + counts.infra + counts.invalid === 0
}

/** The verdict of a case: its worst meaningful result. Failures within the run's threshold do not count. */
export function caseVerdict({ counts, passRate }: CaseSummary, threshold = 1): Verdict {
  if (passRate.value !== null && passRate.value < threshold) return 'fail'
  if (counts.invalid > 0) return 'invalid'
  return counts.infra > 0 || passRate.n === 0 ? 'infra' : 'pass'
}

/** Finds the trials that fail nothing: their case reaches the run's threshold, or they tried nothing. */
export function allowedFailures({ cases, threshold }: RunSummary): (record: TrialRecord) => boolean {
  const reached = new Set(
    threshold === undefined
      ? []
      : cases.filter((row) => caseVerdict(row, threshold) !== 'fail').map((row) => groupOf(row)),
  )
  return (record) => record.untried === true || (record.verdict === 'fail' && reached.has(groupOf(record)))
}

/** Why a trial of `allowedFailures` fails nothing. */
export function whyAllowed({ untried }: TrialRecord): string {
  return untried === true ? 'it tried nothing' : 'failed, within the threshold of the run'
}

/** One value for all trials of a case by one agent with one model. */
export function groupOf({ case: name, agent, model }: Pick<CaseSummary, 'case' | 'agent' | 'model'>): string {
  return JSON.stringify([name, agent, model])
}

/**
 * The `k` of the pass@k and pass^k columns; 1 means no columns. At most 3, because with `k` equal to the number of trials an
 * estimate can only be 0 or 1.
 */
export function shownK(cases: readonly CaseSummary[]): number {
  return Math.min(
    3,
    cases.reduce((most, { passAtK }) => Math.max(most, passAtK.length), 1),
  )
}

/** The cases with data on tool use; empty when no agent was seen using the tool. */
export function casesWithUse(cases: readonly CaseSummary[]): readonly CaseSummary[] {
  if (cases.every(({ metrics }) => metrics.commands === 0)) return []
  return cases.filter(({ passRate }) => passRate.n > 0)
}

interface UseFigure {
  readonly title: string
  /** Explains the title; absent where it is clear. */
  readonly meaning?: string
  /** The mean over the counted trials of a case; null when there are none. */
  text(row: CaseSummary): string | null
}

export const useFigures: readonly UseFigure[] = [
  {
    title: 'commands',
    text: ({ metrics: { commands } }) => (commands === 0 ? 'none seen' : formatMean(commands)),
  },
  {
    title: 'errors',
    meaning: 'commands that failed',
    text: ({ metrics }) => (metrics.commands === 0 ? null : knownShare(metrics.errorRate)),
  },
  {
    title: 'first try',
    meaning: 'different commands that worked the first time',
    text: ({ metrics }) => (metrics.commands === 0 ? null : knownShare(metrics.firstTrySuccessRate)),
  },
  {
    title: 'help',
    meaning: 'calls for help',
    text: ({ metrics }) => (metrics.commands === 0 ? null : formatMean(metrics.helpInvocations)),
  },
]

/** Exit codes that were never seen say nothing about success. */
export function knownShare(rate: number | null): string {
  return rate === null ? 'unknown' : formatPercent(rate)
}

/** Explains the figures, or those of them that are shown. */
export function useLegend(isShown: (title: string) => boolean = () => true): string {
  const meanings = useFigures.flatMap(({ title, meaning }) =>
    meaning === undefined || !isShown(title) ? [] : [` ${title}: ${meaning}.`],
  )
  return `Means of counted trials.${meanings.join('')}`
}
