import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideEarly, wealthAgainstAtLeast, wealthAgainstAtMost } from './decide-early.ts'

const counts = fc.record({ wins: fc.nat(200), losses: fc.nat(200), ties: fc.nat(400) })

test('the wealth of a gambler does not grow on average if the claim holds', () => {
  fc.assert(
    fc.property(counts, fc.double({ min: -0.9, max: 0.9, noNaN: true }), (at, bound) => {
      // The next pair wins, loses or ties so that the mean difference is exactly the bound.
      const win = Math.max(bound, 0) + (1 - Math.abs(bound)) / 4
      const loss = Math.max(-bound, 0) + (1 - Math.abs(bound)) / 4
      const next =
        win * wealthAgainstAtMost(bound, { ...at, wins: at.wins + 1 }) +
        loss * wealthAgainstAtMost(bound, { ...at, losses: at.losses + 1 }) +
        (1 - win - loss) * wealthAgainstAtMost(bound, { ...at, ties: at.ties + 1 })
      expect(next).toBeLessThanOrEqual(wealthAgainstAtMost(bound, at) * (1 + 1e-9))
    }),
  )
  expect(wealthAgainstAtMost(0, { wins: 0, losses: 0, ties: 0 })).toBeCloseTo(1, 12)
})

test('p, interval and verdict never contradict, and both directions share the error', () => {
  fc.assert(
    fc.property(counts, fc.constantFrom(0.05, 0.025), (at, level) => {
      const { low, high, p } = decideEarly(at, 0.05, level)
      expect(low > 0 || high < 0).toBe(p <= level)
      const wealth = Math.max(wealthAgainstAtMost(0, at), wealthAgainstAtLeast(0, at))
      expect(p).toBeCloseTo(Math.min(1, 2 / wealth), 12)
    }),
  )
})

test('both directions mirror each other', () => {
  const at = { wins: 30, losses: 5, ties: 30 }
  expect(wealthAgainstAtLeast(0.1, { wins: 5, losses: 30, ties: 30 })).toBe(wealthAgainstAtMost(-0.1, at))
  expect(decideEarly(at, 0.05)).toMatchObject({ verdict: 'better' })
  expect(decideEarly({ wins: 5, losses: 30, ties: 30 }, 0.05)).toMatchObject({ verdict: 'worse' })
})

test('nothing is decided by nothing, and same needs many ties', () => {
  expect(decideEarly({ wins: 0, losses: 0, ties: 0 }, 0.05)).toEqual({
    verdict: 'inconclusive',
    p: 1,
    low: -1,
    high: 1,
  })
  expect(decideEarly({ wins: 1, losses: 1, ties: 30 }, 0.05).verdict).toBe('inconclusive')
  expect(decideEarly({ wins: 3, losses: 3, ties: 500 }, 0.05).verdict).toBe('same')
})
