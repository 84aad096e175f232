import { expect, test } from 'vitest'
import { createBudget } from '../models/budget.ts'
import { joinBudgets } from './join-budgets.ts'

test('both must allow it, both pay, and a refusal leaves nothing reserved', () => {
  const own = createBudget(0.5)
  const run = createBudget(0.3)
  const both = joinBudgets(own, run)
  expect(both.remainingUsd()).toBeCloseTo(0.3)
  expect(both.reserve(0.4).kind).toBe('refused')
  expect(own.remainingUsd()).toBeCloseTo(0.5)
  const grant = both.reserve(0.2)
  if (grant.kind === 'granted') grant.settle(0.1)
  expect([own.remainingUsd(), run.remainingUsd()]).toEqual([0.4, 0.2])
  expect(joinBudgets(createBudget(0.1), run).reserve(0.15).kind).toBe('refused')
  expect(joinBudgets(createBudget(null), createBudget(null)).remainingUsd()).toBeNull()
})
