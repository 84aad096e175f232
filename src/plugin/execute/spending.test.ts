import { expect, test } from 'vitest'
import { type Budget, createBudget } from '../../models/budget.ts'
import { pluginConfigSchema } from '../config/keys/schema.ts'
import { openSpending } from './spending.ts'

const config = pluginConfigSchema.parse({})
const open = (budget: Budget, hands: number, isFree = false) =>
  openSpending({ budget, config, prices: {}, hands, isFree })

test('those under way together never hold more than the budget', async () => {
  const budget = createBudget(1)
  const spending = open(budget, 4)
  const held = await Promise.all([1, 2, 3, 4].map(() => spending.hold()))
  expect(held.map((one) => one?.maxCostUsd)).toEqual([0.25, 0.25, 0.25, 0.25])
  expect(budget.state().reservedUsd).toBeCloseTo(1)
  for (const one of held) one?.settle(0.05)
  expect(budget.state()).toMatchObject({ spentUsd: 0.2, reservedUsd: 0 })
  expect((await spending.hold())?.maxCostUsd).toBeCloseTo(0.2)
})

test('nothing begins that would cost more than is left, and it is said why', async () => {
  const spending = open(createBudget(1), 1)
  ;(await spending.hold())?.settle(0.7)
  expect(await spending.hold()).toBeNull()
  expect(spending.refusal()).toContain('$0.3000 left, which is less than a scenario costs')
})

test('who finds everything held waits until something becomes free', async () => {
  const spending = open(createBudget(1), 1)
  const first = await spending.hold()
  const order: string[] = []
  const second = spending.hold().then((held) => {
    order.push('held')
    return held
  })
  await new Promise((settle) => setImmediate(settle))
  order.push('settled')
  first?.settle(0.1)
  expect((await second)?.maxCostUsd).toBeCloseTo(0.9)
  expect(order).toEqual(['settled', 'held'])
})

test('before anything is known, the plan and the price say what is set aside', async () => {
  const priced = pluginConfigSchema.parse({ execution: { model: 'm', max_turns: 2 } })
  const prices = { m: { input: 0, output: 100, cacheRead: 0, cacheWrite: 0 } }
  const budget = createBudget(10)
  const spending = openSpending({ budget, config: priced, prices, hands: 100, isFree: false })
  expect((await spending.hold())?.maxCostUsd).toBeCloseTo(0.4)
})

test('what is free holds nothing, and what has no cap is only counted', async () => {
  const used = createBudget(1, 1)
  expect((await open(used, 1, true).hold())?.maxCostUsd).toBeUndefined()
  const budget = createBudget(null)
  const held = await open(budget, 1).hold()
  expect(held?.maxCostUsd).toBeUndefined()
  held?.settle(null)
  expect(budget.state()).toMatchObject({ unmeteredCalls: 1, spentUsd: 0 })
})
