import type { CaseSummary } from '../core/summary.ts'
import type { Verdict } from '../core/verdict.ts'

/** Nothing of interest happened: every trial of the case counted and passed. */
export function passedAlways({ counts }: CaseSummary): boolean {
  return counts.pass > 0 && counts.fail + counts.infra + counts.invalid === 0
}

/** How a case stands: its worst end that says something. Failures that the run's threshold allows do not count against it. */
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
