import type { CaseSummary } from '../core/summary.ts'
import type { Verdict } from '../core/verdict.ts'
import { formatMean, formatPercent } from './quantity.ts'

/** Whether every trial of the case counted and passed. */
export function passedAlways({ counts }: CaseSummary): boolean {
  return counts.pass > 0 && counts.fail + counts.infra + counts.invalid === 0
}

/** The verdict of a case: its worst meaningful result. Failures within the run's threshold do not count. */
export function caseVerdict({ counts, passRate }: CaseSummary, threshold = 1): Verdict {
  if (passRate.value !== null && passRate.value < threshold) return 'fail'
  if (counts.invalid > 0) return 'invalid'
  return counts.infra > 0 || passRate.n === 0 ? 'infra' : 'pass'
}

/**
 * The one `k` of pass@k and pass^k worth a column: 1 means none. At most 3, because an estimate with `k` as large as
 * the number of trials can only be 0 or 1.
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
  /** A mean over the counted trials of a case; null when there is none. */
  text(row: CaseSummary): string | null
}

/** The figures on tool use, in reading order. */
export const useFigures: readonly UseFigure[] = [
  {
    title: 'commands',
    text: ({ metrics: { commands } }) => (commands === 0 ? 'none seen' : formatMean(commands)),
  },
  {
    title: 'errors',
    meaning: 'commands that failed',
    text: ({ metrics }) => (metrics.commands === 0 ? null : formatPercent(metrics.errorRate)),
  },
  {
    title: 'first try',
    meaning: 'different commands that worked the first time',
    text: ({ metrics }) => (metrics.commands === 0 ? null : formatPercent(metrics.firstTrySuccessRate)),
  },
  {
    title: 'help',
    meaning: 'calls for help',
    text: ({ metrics }) => (metrics.commands === 0 ? null : formatMean(metrics.helpInvocations)),
  },
]

/** Explains the figures, or those of them that are shown. */
export function useLegend(isShown: (title: string) => boolean = () => true): string {
  const meanings = useFigures.flatMap(({ title, meaning }) =>
    meaning === undefined || !isShown(title) ? [] : [` ${title}: ${meaning}.`],
  )
  return `Means of counted trials.${meanings.join('')}`
}
