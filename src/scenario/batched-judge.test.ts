import { expect, test } from 'vitest'
import { createBudget } from '../models/budget.ts'
import { holdBudget } from './batched-judge.ts'

const held = (...args: Parameters<typeof holdBudget>) => {
  const hold = holdBudget(...args)
  if (hold.kind === 'refused') throw new Error(hold.message)
  return hold
}

test('held money is reserved, and the call uses it without reserving again', () => {
  const run = createBudget(1)
  const hold = held(run, 0.6)
  expect(run.remainingUsd()).toBeCloseTo(0.4)
  const grant = hold.budget.reserve(0.6)
  expect(run.remainingUsd()).toBeCloseTo(0.4)
  hold.release()
  expect(run.remainingUsd()).toBeCloseTo(0.4)
  if (grant.kind === 'granted') grant.settle(0.1)
  expect(run.state()).toMatchObject({ spentUsd: 0.1, reservedUsd: 0 })
})

test('a larger call releases the held money first', () => {
  const run = createBudget(1)
  const { budget } = held(run, 0.6)
  expect(budget.reserve(0.9).kind).toBe('granted')
  expect(run.remainingUsd()).toBeCloseTo(0.1)
})

test('later calls reserve again; unused money is free after the release', () => {
  const run = createBudget(1)
  const { budget, release } = held(run, 0.3)
  budget.reserve(0.3)
  budget.reserve(0.3)
  expect(run.remainingUsd()).toBeCloseTo(0.4)
  const other = held(run, 0.4)
  other.release()
  other.release()
  expect(run.remainingUsd()).toBeCloseTo(0.4)
  release()
})

test('a hold above the budget is refused at once', () => {
  expect(holdBudget(createBudget(0.1), 0.2)).toMatchObject({ kind: 'refused' })
})

test('a call without a known price is held as unpriced', () => {
  const run = createBudget(1)
  const grant = held(run, null).budget.reserve(null)
  if (grant.kind === 'granted') grant.settle(null)
  expect(run.state()).toEqual({ spentUsd: 0, reservedUsd: 0, unmeteredCalls: 1 })
})
