import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBudget, type SettleCost } from './budget.ts'

const settleOf = (budget: ReturnType<typeof createBudget>, usd: number | null): SettleCost => {
  const grant = budget.reserve(usd)
  if (grant.kind === 'refused') throw new Error(grant.message)
  return grant.settle
}

test('a reserved amount cannot be reserved again, and the unused part is returned', () => {
  const budget = createBudget(1)
  const settle = settleOf(budget, 0.8)
  expect(budget.reserve(0.3)).toMatchObject({ kind: 'refused' })
  expect(budget.remainingUsd()).toBeCloseTo(0.2, 9)
  settle(0.1)
  expect(budget.reserve(0.3)).toMatchObject({ kind: 'granted', usd: 0.3 })
  expect(budget.state()).toEqual({ spentUsd: 0.1, reservedUsd: 0.3, unmeteredCalls: 0 })
})

test('a refusal states the spent, reserved and requested amounts', () => {
  const budget = createBudget(1, 0.25)
  settleOf(budget, 0.5)
  const grant = budget.reserve(0.4)
  expect(grant).toEqual({
    kind: 'refused',
    message:
      'the budget of $1.00 does not allow a call of up to $0.4000: $0.2500 is spent and $0.5000 is reserved by calls under way',
  })
})

test('the cap can be used up exactly, in steps that binary fractions cannot represent', () => {
  const budget = createBudget(1)
  for (let call = 0; call < 10; call += 1) settleOf(budget, 0.1)(0.1)
  expect(budget.remainingUsd()).toBe(0)
  expect(budget.reserve(0.000001).kind).toBe('refused')
})

test('calls of unknown price are granted and counted, and refused once the cap is reached', () => {
  const budget = createBudget(1)
  settleOf(budget, null)(null)
  expect(budget.state()).toMatchObject({ spentUsd: 0, unmeteredCalls: 1 })
  settleOf(budget, null)(0.2)
  expect(budget.state()).toMatchObject({ spentUsd: 0.2, unmeteredCalls: 1 })
  settleOf(budget, 0.8)(0.8)
  expect(budget.reserve(null).kind).toBe('refused')
})

test('an unknown real cost is unmetered and returns the reservation', () => {
  const budget = createBudget(1)
  settleOf(budget, 0.4)(null)
  expect(budget.state()).toEqual({ spentUsd: 0, reservedUsd: 0, unmeteredCalls: 1 })
})

test('settling twice changes nothing', () => {
  const budget = createBudget(1)
  const settle = settleOf(budget, 0.4)
  settle(0.1)
  settle(0.3)
  settle(null)
  expect(budget.state()).toEqual({ spentUsd: 0.1, reservedUsd: 0, unmeteredCalls: 0 })
})

test('without a cap everything is granted and still counted', () => {
  const budget = createBudget(null)
  settleOf(budget, 1e6)(5)
  expect(budget.remainingUsd()).toBeNull()
  expect(budget.state().spentUsd).toBe(5)
})

test('a cap of zero allows nothing that costs', () => {
  expect(createBudget(0).reserve(0.01).kind).toBe('refused')
  expect(createBudget(0).reserve(0).kind).toBe('granted')
})

test('an invalid amount throws instead of making a call free', () => {
  expect(() => createBudget(1).reserve(Number.NaN)).toThrow(RangeError)
  expect(() => createBudget(-1)).toThrow(RangeError)
})

test('spent and reserved never exceed the cap, whatever the order of reserving and settling', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('reserve' as const), usd: fc.double({ min: 0, max: 0.5, noNaN: true }) }),
    fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  )
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 2, noNaN: true }),
      fc.array(step, { maxLength: 60 }),
      (cap, steps) => {
        const budget = createBudget(cap)
        const open: { settle: SettleCost; usd: number }[] = []
        for (const one of steps) {
          if (one.kind === 'reserve') {
            const grant = budget.reserve(one.usd)
            if (grant.kind === 'granted') open.push({ settle: grant.settle, usd: one.usd })
          } else {
            const call = open[one.which % Math.max(1, open.length)]
            call?.settle(call.usd * one.share)
          }
          const { spentUsd, reservedUsd } = budget.state()
          expect(spentUsd + reservedUsd).toBeLessThanOrEqual(cap + 1e-8)
          expect(reservedUsd).toBeGreaterThanOrEqual(0)
        }
      },
    ),
  )
})

test('a cap that changes is asked for before every call', () => {
  const asked: number[] = []
  const budget = createBudget(1, 0.5, (neededUsd) => {
    asked.push(neededUsd)
    return neededUsd <= 2 ? neededUsd : 1.5
  })
  expect(budget.reserve(0.4).kind).toBe('granted')
  expect(asked).toEqual([expect.closeTo(0.9)])
  expect(budget.reserve(0.6).kind).toBe('granted')
  expect(budget.capUsd).toBeCloseTo(1.5)
  expect(budget.reserve(1)).toMatchObject({ kind: 'refused' })
  expect(asked).toHaveLength(3)
  expect(budget.remainingUsd()).toBeCloseTo(0)
})
