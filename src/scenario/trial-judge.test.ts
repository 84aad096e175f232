import { expect, test } from 'vitest'
import { createBudget } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import { joinBudgets, trialJudge } from './trial-judge.ts'

const model = { name: 'anthropic:x' } as Model
const batched = {
  modelFor: () => model,
  flush: async () => {},
  isFlushed: () => false,
  [Symbol.asyncDispose]: async () => {},
}
const slot = { park: <T>(wait: () => Promise<T>) => wait() }

function trial(capUsd: number, shareUsd: number, maxUsd?: number, batches: typeof batched | null = batched) {
  const budget = createBudget(capUsd)
  const grant = budget.reserve(shareUsd)
  if (grant.kind === 'refused') throw new Error(grant.message)
  const raise = (neededUsd: number): number =>
    neededUsd > shareUsd && neededUsd <= shareUsd + (budget.remainingUsd() ?? 0) ? neededUsd : shareUsd
  const share = { usd: () => shareUsd, settle: grant.settle, raise }
  const paid: (number | null)[] = []
  const onAgentPaid = (usd: number | null): void => void paid.push(usd)
  return {
    ...trialJudge({ judge: model, budget }, batches, { maxUsd, share, slot, onAgentPaid }),
    budget,
    paid,
  }
}

test('a judge called at once is paid from the rest of the trial’s share', () => {
  const { judge, budget } = trial(10, 1, undefined, null)
  expect(judge?.budget(0.4)?.remainingUsd()).toBeCloseTo(0.6)
  expect(budget.remainingUsd()).toBeCloseTo(9)
})

test('a judge called at once gets more than the share while the run has money, and is refused beyond it', () => {
  const { judge } = trial(2, 1, undefined, null)
  expect(judge?.budget(0.9)?.reserve(0.5)).toMatchObject({ kind: 'granted' })
  expect(judge?.budget(0.9)?.reserve(1.2)).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('does not allow a call of up to $1.2000'),
  })
})

test('while a batch is pending, only the cost of the agent is taken', () => {
  const { judge, budget, paid } = trial(10, 5)
  expect(judge?.budget(0.4)?.remainingUsd()).toBeCloseTo(9.6)
  expect(budget.state()).toMatchObject({ spentUsd: 0.4, reservedUsd: 0 })
  expect(paid).toEqual([0.4])
})

test('a limit of the scenario also applies to its judge, and differs from that of the run', () => {
  const own = trial(10, 0.5, 0.5)
  expect(own.judge?.budget(0.4)?.reserve(0.2).kind).toBe('refused')
  expect(own.isRunOutOfMoney()).toBe(false)
  const run = trial(1, 0.5)
  expect(run.judge?.budget(0.4)?.reserve(0.7).kind).toBe('refused')
  expect(run.isRunOutOfMoney()).toBe(true)
})

test('an agent that used its whole share is not judged with money of other trials', () => {
  const { judge, paid } = trial(10, 0.5)
  expect(judge?.budget(0.5)?.reserve(0.01).kind).toBe('refused')
  expect(paid).toEqual([])
})

test('both budgets must allow it, both pay, and a refusal leaves nothing reserved', () => {
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
