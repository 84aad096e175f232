import { settled } from '../../../core/case-tally.ts'

/** A running mean. `value` is null without values, and leaves no trace of the order in which they came. */
export interface MeanTally {
  readonly sum: number
  readonly n: number
}

export const emptyMean: MeanTally = { sum: 0, n: 0 }

/** null and what is no number is left out: unknown is not zero. */
export function withValue(tally: MeanTally, value: number | null): MeanTally {
  return value === null || !Number.isFinite(value) ? tally : { sum: tally.sum + value, n: tally.n + 1 }
}

export function joined(tallies: Iterable<MeanTally>): MeanTally {
  let [sum, n] = [0, 0]
  for (const tally of tallies) {
    sum += tally.sum
    n += tally.n
  }
  return { sum, n }
}

export function meanOf({ sum, n }: MeanTally): number | null {
  return n === 0 ? null : settled(sum / n)
}
