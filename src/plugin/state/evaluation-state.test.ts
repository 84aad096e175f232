import { expect, test } from 'vitest'
import { stages } from '../contract.ts'
import {
  completed,
  type EvaluationState,
  ended,
  lost,
  migrateState,
  nextStage,
  rewoundTo,
  stopped,
} from './evaluation-state.ts'

const now = new Date('2026-01-02T03:04:05Z')

const fresh: EvaluationState = {
  schema_version: 2,
  run_id: 'run_20260102_030405_abcdef',
  plugin_name: 'demo',
  plugin_path: '/plugins/demo',
  content_hash: '',
  stage: 'pending',
  until: 'evaluation',
  timestamp: '2026-01-01T00:00:00.000Z',
  replay: 'off',
  cassettes: '/plugins/demo/evals/cassettes',
  fast_from: null,
  failed_scenario_ids: [],
  error: null,
  undoing: null,
  lost_cost_usd: 0,
  lost_usage: [],
}

test('the stages follow each other up to the requested one', () => {
  const seen: string[] = []
  let state = { ...fresh, until: 'execution' as const } as EvaluationState
  for (let stage = nextStage(state); stage !== null; stage = nextStage(state)) {
    seen.push(stage)
    state = completed(state, stage, now)
  }
  expect(seen).toEqual(['analysis', 'generation', 'execution'])
})

test('a run that has ended has no next stage', () => {
  for (const until of stages) expect(nextStage({ stage: 'complete', until })).toBeNull()
})

test('an error is kept until a stage is completed', () => {
  const broken = stopped(fresh, 'the disk is full', now)
  expect(broken).toMatchObject({ stage: 'pending', error: 'the disk is full', timestamp: now.toISOString() })
  expect(completed(broken, 'analysis', now).error).toBeNull()
})

test('the end names the scenarios that did not pass', () => {
  expect(ended(fresh, ['a', 'b'], now)).toMatchObject({ stage: 'complete', failed_scenario_ids: ['a', 'b'] })
})

test('going back to a stage makes it the next one', () => {
  for (const from of stages) {
    const back = rewoundTo(ended(fresh, [], now), from, 'evaluation', now)
    expect(nextStage(back)).toBe(from)
  }
})

test('updates do not change the original state', () => {
  const before = structuredClone(fresh)
  for (const update of [
    () => completed(fresh, 'analysis', now),
    () => stopped(fresh, 'x', now),
    () => ended(fresh, ['a'], now),
    () => rewoundTo(fresh, 'generation', 'evaluation', now),
  ])
    update()
  expect(fresh).toEqual(before)
})

test('a state of this version is not changed', () => {
  expect(migrateState(structuredClone(fresh), 'state.json')).toEqual({
    state: fresh,
    embedded: {},
    notes: [],
  })
})

test('a state of the original tool keeps its parts, and missing fields get defaults', () => {
  const { state, embedded, notes } = migrateState(
    {
      run_id: '20260102-030405-abcd',
      plugin_name: 'demo',
      stage: 'generation',
      timestamp: '2026-01-02T03:04:05Z',
      config: { plugin: { path: './demo' } },
      analysis: { components: { skills: [], hooks: [] } },
      scenarios: [{ id: 'a' }],
      executions: null,
      partial_executions: [{ scenario_id: 'a' }],
      failed_scenario_ids: null,
    },
    'state.json',
  )
  expect(state).toMatchObject({
    schema_version: 2,
    stage: 'generation',
    plugin_path: './demo',
    replay: 'off',
  })
  expect(embedded).toEqual({
    analysis: { components: { skills: [], hooks: [] } },
    scenarios: [{ id: 'a' }],
    executions: [{ scenario_id: 'a' }],
  })
  expect(notes.join(' ')).toMatch(/older version/)
})

test.each([
  ['of a newer version', { ...fresh, schema_version: 3 }, /newer Gantry \(format 3\)/],
  ['that lacks its names', { stage: 'analysis' }, /not a state file of a plugin evaluation/],
  ['that is a list', [], /not a state file of a plugin evaluation/],
  ['that is nothing', null, /not a state file of a plugin evaluation/],
  ['whose stage is none', { ...fresh, stage: 'dreaming' }, /not a state file of a plugin evaluation/],
])('a state %s is rejected with the file and a hint', (_, value, message) => {
  expect(() => migrateState(value, '/runs/x/state.json')).toThrow(
    expect.objectContaining({
      code: 'INVALID_FILE',
      message: expect.stringMatching(message),
      hint: expect.any(String),
    }),
  )
})

test('what is lost is kept by model', () => {
  const tokens = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 }
  const once = lost(fresh, 0.2, [{ model: 'a', tokens, cost_usd: 0.15 }])
  expect(lost(once, 0.1, [{ model: 'a', tokens, cost_usd: 0.1 }])).toMatchObject({
    lost_cost_usd: expect.closeTo(0.3),
    lost_usage: [{ model: 'a', tokens: { input: 20, output: 2 }, cost_usd: 0.25 }],
  })
})
