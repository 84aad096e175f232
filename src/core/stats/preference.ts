import { z } from 'zod'
import { settled } from '../case-tally.ts'
import { compareMeans, fewestCases, holm, withAdjustedP } from './compare-cases.ts'
import { exactRate } from './exact-rate.ts'

/** Of two answers: the one of the first side, that of the second, or neither. */
export type Preferred = 'before' | 'after' | 'tie'

/** A pair of answers that a judge saw in both orders. */
export interface JudgedPair {
  readonly case: string
  /** Who won when the first side was shown first, and when the second was. */
  readonly orders: readonly [Preferred, Preferred]
  /** Characters of both answers. */
  readonly lengths: readonly [number, number]
}

const rate = z.strictObject({
  value: z.number().nullable(),
  low: z.number(),
  high: z.number(),
  n: z.number(),
})

/** Orders that disagree are a tie. */
export const preferenceSchema = z.strictObject({
  model: z.string(),
  pairs: z.number().describe('Pairs of the same case and attempt that the judge saw in both orders.'),
  wins: z.number().describe('Of B.'),
  losses: z.number(),
  ties: z.number().describe('With those whose winner changed with the order.'),
  win_rate: z
    .strictObject({ value: z.number().nullable(), low: z.number(), high: z.number() })
    .describe('Of B, with its 95% interval; a tie is half a win.'),
  p: z.number(),
  unit: z.enum(['cases', 'trials']),
  order_effect: rate.describe('Share of the pairs whose winner changed with the order.'),
  first_preferred: rate.describe('Of these, the share in which the answer that was shown first did better.'),
  longer_wins: rate.describe('Share of the pairs with a winner in which it is the longer answer.'),
  cost_usd: z.number().nullable(),
  not_judged: z.array(z.strictObject({ reason: z.string(), pairs: z.number() })).readonly(),
})

export type Preference = Readonly<z.output<typeof preferenceSchema>>

/** Several sides against the first; p by Holm. */
export function preferencesOf(
  sides: readonly {
    readonly pairs: readonly JudgedPair[]
    readonly about: Pick<Preference, 'model' | 'cost_usd' | 'not_judged'>
  }[],
  seed: number,
): readonly Preference[] {
  const tested = sides.map(({ pairs }) => meanOf(pairs, seed))
  const ps = holm(tested.map(({ p }) => p))
  return sides.map(({ pairs, about }, index): Preference => {
    const found = withAdjustedP(tested[index] ?? meanOf([], seed), ps[index] ?? 1)
    const count = (who: Preferred): number => pairs.filter((pair) => winnerOf(pair) === who).length
    const share = (difference: number): number => settled((difference + 1) / 2)
    return {
      model: about.model,
      pairs: pairs.length,
      wins: count('after'),
      losses: count('before'),
      ties: count('tie'),
      win_rate: {
        value: found.value === null ? null : share(found.value),
        low: share(found.low),
        high: share(found.high),
      },
      p: settled(found.p),
      unit: found.unit,
      ...biasOf(pairs),
      cost_usd: about.cost_usd,
      not_judged: about.not_judged,
    }
  })
}

/** How much the order and the length of the answers decide. */
export function biasOf(pairs: readonly JudgedPair[]) {
  const changed = pairs.filter(({ orders: [one, other] }) => one !== other)
  const forFirst = changed.filter(({ orders: [one, other] }) => weight[one] < weight[other])
  const uneven = pairs.filter((pair) => winnerOf(pair) !== 'tie' && pair.lengths[0] !== pair.lengths[1])
  const longer = uneven.filter((pair) => (winnerOf(pair) === 'after') === pair.lengths[1] > pair.lengths[0])
  return {
    order_effect: exactRate(changed.length, pairs.length),
    first_preferred: exactRate(forFirst.length, changed.length),
    longer_wins: exactRate(longer.length, uneven.length),
  }
}

export function winnerOf({ orders: [one, other] }: JudgedPair): Preferred {
  return one === other ? one : 'tie'
}

const weight = { before: -1, tie: 0, after: 1 }

/** Wins minus losses. The case is the unit, as in every comparison; with too few of them the pair is. */
function meanOf(pairs: readonly JudgedPair[], seed: number) {
  const cases = [...Map.groupBy(pairs, (pair) => pair.case).values()]
  const unit = cases.length < fewestCases ? 'trials' : 'cases'
  const values = (unit === 'cases' ? cases : pairs.map((pair) => [pair])).map(
    (group) => group.reduce((sum, pair) => sum + weight[winnerOf(pair)], 0) / group.length,
  )
  if (values.length === 0) return { value: null, low: -1, high: 1, p: 1, unit } as const
  return { ...compareMeans(values, seed), unit } as const
}
