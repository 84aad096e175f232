import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Budget, createBudget } from '../models/budget.ts'
import { openShares, type PricedTrial } from './shares.ts'

const open = (budget: Budget | null, expectedCostUsd: number | null = null) =>
  openShares(budget, expectedCostUsd)
const trial = (more: Partial<PricedTrial> = {}): PricedTrial => ({
  like: 'x',
  earlierUsd: null,
  othersUsd: null,
  maxUsd: null,
  ...more,
})

test('the first trial of unknown cost has the whole budget, and the others wait for its cost', async () => {
  const shares = open(createBudget(0.008))
  const first = await shares.reserve(trial())
  expect(first?.usd).toBe(0.008)
  const others = [1, 2, 3].map(() => shares.reserve(trial()))
  first?.settle(0.006)
  expect(await Promise.all(others)).toEqual([null, null, null])
  expect(shares.refusal()).toBe(
    'the budget of $0.0080 has $0.0020 left, and a trial like it costs about $0.0060',
  )
})

test('trials of known cost start together, as many as fit with room, and each draws on all that is left', async () => {
  const shares = open(createBudget(1))
  const known = trial({ earlierUsd: 0.2 })
  const [one, two] = [await shares.reserve(known), await shares.reserve(known)]
  expect([one?.usd, two?.usd]).toEqual([1, 0.8])
  const order: string[] = []
  const third = shares.reserve(known).then((share) => {
    order.push('reserved')
    return share
  })
  await nextTurn()
  order.push('settled')
  one?.settle(0.2)
  expect((await third)?.usd).toBeCloseTo(0.6)
  expect(order).toEqual(['settled', 'reserved'])
})

test('one cheap case is not the known cost of another: it waits until it can have what is left', async () => {
  const shares = open(createBudget(0.03))
  ;(await shares.reserve(trial({ like: 'one' })))?.settle(0.001)
  const two = await shares.reserve(trial({ like: 'two' }))
  const third = shares.reserve(trial({ like: 'three' }))
  expect(two?.raise(0.02)).toBeCloseTo(0.029)
  two?.settle(0.022)
  expect(await third).toBeNull()
  expect(shares.refusal()).toContain('has $0.0070 left, and a trial like it costs about $0.0115')
})

test('with much money, one cheap case is enough to start others beside each other', async () => {
  const shares = open(createBudget(8))
  ;(await shares.reserve(trial()))?.settle(0.01)
  const parts = await Promise.all(['a', 'b', 'c', 'd'].map((like) => shares.reserve(trial({ like }))))
  expect(parts.every((part) => (part?.usd ?? 0) > 7)).toBe(true)
})

test('of trials that cost more than expected, the one that began last gives way', async () => {
  const budget = createBudget(1)
  const shares = open(budget)
  const known = trial({ earlierUsd: 0.2 })
  const [one, two] = [await shares.reserve(known), await shares.reserve(known)]
  expect(two?.raise(0.3)).toBeGreaterThan(0.3)
  expect(one?.raise(0.7)).toBeCloseTo(0.7)
  expect(two?.raise(0.35)).toBeCloseTo(0.3)
  two?.settle(0.35)
  expect(one?.raise(0.65)).toBeCloseTo(0.65)
  one?.settle(0.65)
  expect(budget.state()).toMatchObject({ spentUsd: 1, reservedUsd: 0 })
})

test('a trial that was stopped before a call costs at least that call: no other like it starts', async () => {
  const shares = open(createBudget(0.1))
  const first = await shares.reserve(trial())
  expect(first?.raise(0.12)).toBe(0.1)
  first?.settle(0)
  expect(await shares.reserve(trial())).toBeNull()
  expect(shares.refusal()).toContain('costs about $0.1200')
})

test('what other trials of the agent cost in earlier runs counts when nothing better is known', async () => {
  const shares = open(createBudget(0.001))
  expect(await shares.reserve(trial({ othersUsd: 0.006 }))).toBeNull()
  expect(shares.refusal()).toContain('costs about $0.0060')
  expect(await shares.reserve(trial({ othersUsd: 0.006, earlierUsd: 0.0005 }))).not.toBeNull()
})

test('alone, a trial starts with what is left if others like it cost no more', async () => {
  const shares = open(createBudget(1))
  ;(await shares.reserve(trial()))?.settle(0.5)
  expect((await shares.reserve(trial()))?.usd).toBeCloseTo(0.5)
})

test('no trial starts with less than earlier runs paid for it, and another that fits does', async () => {
  const shares = open(createBudget(0.005))
  expect(await shares.reserve(trial({ like: 'dear', earlierUsd: 0.006 }))).toBeNull()
  expect(shares.refusal()).toContain('costs about $0.0060')
  expect((await shares.reserve(trial({ like: 'cheap', earlierUsd: 0.001 })))?.usd).toBe(0.005)
})

test('an estimate reserves but does not refuse: it may be too high', async () => {
  const shares = open(createBudget(0.3), 0.2)
  const first = await shares.reserve(trial())
  expect(first?.usd).toBe(0.3)
  first?.settle(0.03)
  expect((await shares.reserve(trial()))?.usd).toBeCloseTo(0.27)
})

test('trials that nobody can meter do not wait for each other after the first', async () => {
  const shares = open(createBudget(1))
  ;(await shares.reserve(trial()))?.settle(null)
  const both = await Promise.all([shares.reserve(trial()), shares.reserve(trial())])
  expect(both.map((share) => share?.usd)).toEqual([1, 1])
})

test('a trial with its own limit needs no more than that', async () => {
  const shares = open(createBudget(1))
  ;(await shares.reserve(trial()))?.settle(0.7)
  expect((await shares.reserve(trial({ maxUsd: 0.2 })))?.usd).toBe(0.2)
})

test('trials that are free reserve nothing, and without a cap the cost is only counted', async () => {
  expect((await open(null).reserve(trial()))?.usd).toBeNull()
  const budget = createBudget(null)
  const share = await open(budget).reserve(trial())
  expect(share?.usd).toBeNull()
  share?.settle(null)
  expect(budget.state()).toMatchObject({ unmeteredCalls: 1, spentUsd: 0 })
})

test('an attempt that was not made, or that failed, says nothing about what a trial costs', async () => {
  const shares = open(createBudget(1))
  ;(await shares.reserve(trial()))?.settle(0.6)
  ;(await shares.reserve(trial({ maxUsd: 0.3 })))?.giveBack()
  expect(await shares.reserve(trial())).toBeNull()
  const failing = open(createBudget(1))
  ;(await failing.reserve(trial()))?.settle(0.001, false)
  expect((await failing.reserve(trial()))?.usd).toBeCloseTo(0.999)
})

test('a share does not grow beyond the limit of its trial', async () => {
  const share = await open(createBudget(1)).reserve(trial({ earlierUsd: 0.05, maxUsd: 0.3 }))
  expect(share?.usd).toBe(0.3)
  expect(share?.raise(0.28)).toBe(0.3)
  expect(share?.raise(0.4)).toBe(0.3)
})

test('a share is settled once', async () => {
  const budget = createBudget(1)
  const share = await open(budget).reserve(trial())
  share?.settle(0.2)
  share?.settle(0.5)
  expect(budget.state()).toMatchObject({ spentUsd: 0.2, reservedUsd: 0 })
})

test('no trial is cut while another could have waited, whatever the cap, the costs and the number at a time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 0.01, max: 5, noNaN: true }),
      fc.array(fc.double({ min: 0.5, max: 1, noNaN: true }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 6 }),
      async (capUsd, costs, concurrency) => {
        const budget = createBudget(capUsd)
        const shares = open(budget)
        const queue = [...costs]
        let cut = 0
        const work = async (): Promise<void> => {
          for (let cost = queue.shift(); cost !== undefined; cost = queue.shift()) {
            const share = await shares.reserve(trial())
            if (share === null) continue
            await nextTurn()
            // Costs differ by a factor of two at most, so only the last of the money can be too little.
            const limitUsd = share.raise(cost) ?? cost
            if (cost > limitUsd + 1e-9) cut += 1
            await nextTurn()
            share.settle(Math.min(cost, limitUsd))
          }
        }
        await Promise.all(Array.from({ length: concurrency }, work))
        expect(budget.state().spentUsd).toBeLessThanOrEqual(capUsd + 1e-6)
        expect(cut).toBeLessThanOrEqual(1)
      },
    ),
    { numRuns: 60 },
  )
})
