import { expect, test } from 'vitest'
import { type Budget, createBudget } from '../models/budget.ts'
import { openShares } from './shares.ts'

const open = (budget: Budget | null, concurrency: number, expectedCostUsd: number | null = null) =>
  openShares(budget, { concurrency, expectedCostUsd })

test('attempts under way together never reserve more than the budget', async () => {
  const budget = createBudget(1)
  const shares = open(budget, 4)
  const reserved = await Promise.all([1, 2, 3, 4].map(() => shares.reserve(null)))
  expect(reserved.map((one) => one?.usd)).toEqual([0.25, 0.25, 0.25, 0.25])
  expect(budget.state().reservedUsd).toBeCloseTo(1)
  for (const one of reserved) one?.settle(0.05)
  expect(budget.state()).toMatchObject({ spentUsd: 0.2, reservedUsd: 0 })
  expect((await shares.reserve(null))?.usd).toBeCloseTo(0.2)
})

test('no attempt starts that would cost more than is left, and the refusal says why', async () => {
  const shares = open(createBudget(1), 1)
  ;(await shares.reserve(null))?.settle(0.7)
  expect(await shares.reserve(null)).toBeNull()
  expect(shares.refusal()).toContain('$0.3000 left, which is less than a trial costs')
})

test('a trial with a limit of its own may start with less than the others cost', async () => {
  const shares = open(createBudget(1), 1)
  ;(await shares.reserve(null))?.settle(0.7)
  expect((await shares.reserve(0.2))?.usd).toBe(0.2)
})

test('an attempt that finds everything reserved waits until something becomes free', async () => {
  const shares = open(createBudget(1), 1)
  const first = await shares.reserve(null)
  const order: string[] = []
  const second = shares.reserve(null).then((share) => {
    order.push('reserved')
    return share
  })
  await new Promise((settle) => setImmediate(settle))
  order.push('settled')
  first?.settle(0.1)
  expect((await second)?.usd).toBeCloseTo(0.9)
  expect(order).toEqual(['settled', 'reserved'])
})

test('before any trial has ended, the expected cost says what is reserved', async () => {
  expect((await open(createBudget(10), 100, 0.4).reserve(null))?.usd).toBeCloseTo(0.4)
})

test('trials that are free reserve nothing, and without a cap the cost is only counted', async () => {
  expect((await open(null, 1).reserve(null))?.usd).toBeNull()
  const budget = createBudget(null)
  const share = await open(budget, 1).reserve(null)
  expect(share?.usd).toBeNull()
  share?.settle(null)
  expect(budget.state()).toMatchObject({ unmeteredCalls: 1, spentUsd: 0 })
})

test('a share is settled once', async () => {
  const budget = createBudget(1)
  const share = await open(budget, 1).reserve(null)
  share?.settle(0.2)
  share?.settle(0.5)
  expect(budget.state()).toMatchObject({ spentUsd: 0.2, reservedUsd: 0 })
})
