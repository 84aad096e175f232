import { expect, test } from 'vitest'
import { caseCells, selectTrials, type TrialFacts } from './select-trials.ts'

const trial = (id: string, change: Partial<TrialFacts> = {}): TrialFacts => ({
  trial_id: id,
  case: 'a',
  agent: 'x',
  model: 'default',
  attempt: 1,
  verdict: 'pass',
  reason: 'all gates passed',
  score: null,
  cost_usd: null,
  duration_ms: 1,
  started_at: '2026-01-01T00:00:00Z',
  ...change,
})

const trials = [
  trial('1', { cost_usd: 2 }),
  trial('2', { verdict: 'fail', reason: 'no File', cost_usd: 1, tags: '["slow"]' }),
  trial('3', { agent: 'y' }),
  trial('4', { case: 'b', verdict: 'infra' }),
  trial('5', { case: 'b', agent: 'y', verdict: 'invalid' }),
]
const ids = (selection: Parameters<typeof selectTrials>[1]) =>
  selectTrials(trials, selection)
    .map(({ trial_id }) => trial_id)
    .join('')

test('trials are chosen by what happened', () => {
  expect(ids({ only: 'failures' })).toBe('2')
  expect(ids({ only: 'errors' })).toBe('45')
  expect(ids({ only: 'flaky' })).toBe('12')
  // Agent x passes half of case a, agent y all of it; nothing of case b counts.
  expect(ids({ only: 'different' })).toBe('123')
})

test('trials are chosen by name, tag and text', () => {
  expect(ids({ case: 'b', agent: 'y' })).toBe('5')
  expect(ids({ tag: 'slow' })).toBe('2')
  expect(ids({ tag: 'slo' })).toBe('')
  expect(ids({ text: 'no file' })).toBe('2')
})

test('trials without a cost come last when the cheapest is first', () => {
  expect(ids({ sort: 'cost' })).toBe('21345')
  expect(ids({ sort: 'cost', descending: true })).toBe('34512')
  expect(ids({ sort: 'verdict' })).toBe('25413')
})

test('a cell counts the trials of one case, agent and model', () => {
  expect(caseCells(trials)[0]).toEqual({
    case: 'a',
    agent: 'x',
    model: 'default',
    counts: { pass: 1, fail: 1, infra: 0, invalid: 0 },
    costUsd: 3,
    durationMs: 2,
  })
})
