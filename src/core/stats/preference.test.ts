import fc from 'fast-check'
import { expect, test } from 'vitest'
import { biasOf, type JudgedPair, type Preferred, preferencesOf, winnerOf } from './preference.ts'

const about = { model: 'm', cost_usd: 0, not_judged: [] }
const pair = (
  one: Preferred,
  other: Preferred,
  name = 'a',
  lengths: JudgedPair['lengths'] = [1, 2],
): JudgedPair => ({ case: name, orders: [one, other], lengths })

test('a winner that changes with the order is a tie, and shows which position gained', () => {
  const pairs = [
    pair('after', 'after'),
    pair('before', 'after'),
    pair('before', 'tie'),
    pair('after', 'before'),
    pair('tie', 'tie'),
  ]
  expect(pairs.map(winnerOf)).toEqual(['after', 'tie', 'tie', 'tie', 'tie'])
  expect(biasOf(pairs)).toMatchObject({
    order_effect: { value: 0.6, n: 5 },
    first_preferred: { value: 2 / 3, n: 3 },
  })
})

test('the length counts where there is a winner and one answer is longer', () => {
  const { longer_wins } = biasOf([
    pair('after', 'after', 'a', [10, 20]),
    pair('before', 'before', 'a', [10, 20]),
    pair('before', 'before', 'a', [30, 20]),
    pair('before', 'before', 'a', [20, 20]),
    pair('before', 'after', 'a', [10, 20]),
  ])
  expect(longer_wins).toMatchObject({ value: 2 / 3, n: 3 })
})

test('the case is the unit: repeating one case makes nothing more certain', () => {
  const cases = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const once = cases.map((name) => pair('after', 'after', name))
  const [one] = preferencesOf([{ pairs: once, about }], 1)
  const [often] = preferencesOf([{ pairs: [...once, ...once, ...once], about }], 1)
  expect(one).toMatchObject({ unit: 'cases', wins: 7, win_rate: { value: 1 } })
  expect(often?.p).toBe(one?.p)
  expect(often?.win_rate).toEqual(one?.win_rate)
  expect(one?.win_rate.low).toBeGreaterThan(0.5)
})

test('without pairs nothing is known, and several sides are adjusted', () => {
  const pairs = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => pair('after', 'after', name))
  const alone = preferencesOf([{ pairs, about }], 1)
  const three = preferencesOf(
    [
      { pairs, about },
      { pairs, about },
      { pairs: [], about },
    ],
    1,
  )
  expect(three[2]).toMatchObject({ pairs: 0, p: 1, win_rate: { value: null, low: 0, high: 1 } })
  expect(three[0]?.p).toBeGreaterThan(alone[0]?.p ?? 1)
  expect(three[0]?.win_rate.low).toBeLessThanOrEqual(0.5)
})

test('turning the sides turns the answer', () => {
  const preferred = fc.constantFrom<Preferred>('before', 'after', 'tie')
  const turn = { before: 'after', after: 'before', tie: 'tie' } as const
  const some = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), preferred, preferred), {
    minLength: 1,
  })
  fc.assert(
    fc.property(some, (given) => {
      const pairs = given.map(([name, one, other]) => pair(one, other, name))
      const turned = given.map(([name, one, other]) => pair(turn[other], turn[one], name, [2, 1]))
      const [a] = preferencesOf([{ pairs, about }], 1)
      const [b] = preferencesOf([{ pairs: turned, about }], 1)
      expect(a?.wins).toBe(b?.losses)
      expect(a?.win_rate.value ?? 0).toBeCloseTo(1 - (b?.win_rate.value ?? 0))
      expect(a?.order_effect).toEqual(b?.order_effect)
      expect(a?.first_preferred).toEqual(b?.first_preferred)
      expect(a?.longer_wins).toEqual(b?.longer_wins)
    }),
    { numRuns: 50 },
  )
})
