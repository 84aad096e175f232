import { expect, test } from 'vitest'
import { type CaseFacts, createFacts, type FactsSource } from './case-facts.ts'
import { compareWith, findRegressions } from './regression.ts'

const facts = (change: Partial<CaseFacts> = {}): CaseFacts => ({
  case: 'capture',
  agent: 'mine',
  model: 'default',
  trials: 1,
  passes: 1,
  gates: [],
  meanScore: null,
  caseHash: null,
  uncounted: 0,
  means: { cost_usd: null, tokens: null, time_ms: null, commands: null, errors: null },
  ...change,
})

const costing = (cost_usd: number): CaseFacts => facts({ means: { ...facts().means, cost_usd } })

const gate = (passes: number, trials: number, type = 'file_exists', index = 0) => ({
  index,
  type,
  passes,
  trials,
})

const gates = (before: ReturnType<typeof gate>, now: ReturnType<typeof gate>) =>
  findRegressions([facts({ gates: [before] })], [facts({ gates: [now] })])

test('a gate that passed before and fails now is an alert', () => {
  expect(gates(gate(1, 1), gate(0, 1))).toEqual([
    {
      case: 'capture',
      agent: 'mine',
      model: 'default',
      kind: 'gate',
      severity: 'alert',
      message: 'gate 1 (file_exists) passed 1 of 1 times before and 0 of 1 times now',
    },
  ])
})

test('a gate that was reliable and now fails sometimes is a warning', () => {
  expect(gates(gate(10, 10), gate(9, 10))).toMatchObject([{ kind: 'gate', severity: 'warning' }])
  expect(gates(gate(2, 2), gate(1, 2))).toMatchObject([{ severity: 'warning' }])
})

test('a mostly passing gate that now mostly fails is an alert, a flaky one that stays flaky is nothing', () => {
  expect(gates(gate(9, 10), gate(1, 10))).toMatchObject([{ severity: 'alert' }])
  expect(gates(gate(9, 10), gate(7, 10))).toEqual([])
  expect(gates(gate(0, 1), gate(0, 1))).toEqual([])
})

test('a gate of another type or position is another gate', () => {
  expect(gates(gate(1, 1), gate(0, 1, 'script'))).toEqual([])
  expect(gates(gate(1, 1), gate(0, 1, 'file_exists', 1))).toEqual([])
})

test.each([
  [1, 0.85, 0],
  [1, 0.849, 1],
  [0.8, 0.68, 0],
  [0.8, 0.67, 1],
  [0, 0, 0],
])('a mean score that goes from %f to %f gives %i warnings', (before, now, count) => {
  const found = findRegressions([facts({ meanScore: before })], [facts({ meanScore: now })])
  expect(found).toHaveLength(count)
  for (const one of found) expect(one).toMatchObject({ kind: 'score', severity: 'warning' })
})

test.each([
  [0.1, 0.15, 0],
  [0.023333333, 0.035, 0],
  [0.1, 0.151, 1],
  [0.1, 0.05, 0],
  [0, 5, 0],
])('a mean cost that goes from %f to %f gives %i warnings', (before, now, count) => {
  const found = findRegressions([costing(before)], [costing(now)])
  expect(found).toHaveLength(count)
  for (const one of found) expect(one).toMatchObject({ kind: 'cost', severity: 'warning' })
})

test('unknown scores and costs, new cases and other models are not compared', () => {
  expect(findRegressions([{ ...costing(1), meanScore: 1 }], [facts()])).toEqual([])
  expect(findRegressions([], [facts({ meanScore: 0 })])).toEqual([])
  expect(findRegressions([facts({ meanScore: 1 })], [facts({ meanScore: 0, model: 'other' })])).toEqual([])
})

test('a case that changed in between is listed and not compared', () => {
  const before = facts({ meanScore: 1, caseHash: 'a' })
  const now = facts({ meanScore: 0, caseHash: 'b' })
  expect(findRegressions([before], [now])).toEqual([])
  const name = { case: 'capture', agent: 'mine', model: 'default' }
  expect(compareWith('run', [before], [now])).toEqual({
    runId: 'run',
    compared: 0,
    missing: [],
    changed: [name],
  })
  expect(findRegressions([{ ...before, caseHash: null }], [now])).toHaveLength(1)
})

test('facts come from counted trials only and survive storage', () => {
  const fold = createFacts()
  const trial = (change: Partial<FactsSource>): FactsSource => ({
    case: 'c',
    agent: 'a',
    model: 'm',
    verdict: 'pass',
    score: 1,
    costUsd: 0.1,
    gates: [],
    ...change,
  })
  const passed = { type: 'script', passed: true, message: '', detail: {} }
  fold.add(trial({ gates: [passed, passed] }))
  fold.add(
    trial({ verdict: 'fail', score: 0.5, costUsd: null, gates: [passed, { ...passed, passed: false }] }),
  )
  fold.add(trial({ verdict: 'infra', score: 0 }))
  fold.add(trial({ case: 'b', verdict: 'invalid' }))
  const expected: CaseFacts[] = [
    {
      ...facts({ case: 'b', agent: 'a', model: 'm', trials: 0, passes: 0, uncounted: 1 }),
      examples: [],
    },
    {
      case: 'c',
      agent: 'a',
      model: 'm',
      trials: 2,
      passes: 1,
      gates: [gate(2, 2, 'script', 0), gate(1, 2, 'script', 1)],
      meanScore: 0.75,
      caseHash: null,
      uncounted: 1,
      means: { cost_usd: 0.1, tokens: null, time_ms: null, commands: null, errors: null },
      examples: [],
    },
  ]
  expect(JSON.parse(JSON.stringify(fold.finish()))).toEqual(expected)
})
