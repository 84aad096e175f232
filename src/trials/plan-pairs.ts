import { seededRandom } from '../core/random.ts'

/**
 * Every trial of a run in start order: first all cases once, then all of them again, so that an interrupted run has covered as
 * many cases as possible. With a seed, the arms of each attempt at a case come in an order drawn from it, so that a model or machine
 * that changes meanwhile hits all alike. `index` is the position without the draw.
 */
export function planPairs<Case, Arm>(
  cases: readonly { readonly case: Case; readonly arms: readonly Arm[]; readonly repeat: number }[],
  seed?: number,
) {
  const random = seed === undefined ? () => 0 : seededRandom(seed)
  const most = cases.reduce((largest, { repeat }) => Math.max(largest, repeat), 0)
  let index = 0
  return Array.from({ length: most }, (_, earlier) => earlier + 1).flatMap((attempt) =>
    cases
      .filter(({ repeat }) => attempt <= repeat)
      .flatMap((entry) =>
        entry.arms
          .map((arm) => ({ trial: { case: entry.case, arm, attempt, index: index++ }, rank: random() }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ trial }) => trial),
      ),
  )
}
