import { expect, test } from 'vitest'
import { atifSchema } from './support/atif-schema.ts'

const call = { tool_call_id: 'c1', function_name: 'bash', arguments: {} }

function valid() {
  return {
    schema_version: 'ATIF-v1.7',
    agent: { name: 'a', version: '1' },
    steps: [
      { step_id: 1, source: 'user', message: 'hi', timestamp: '2026-01-02T03:04:05.000Z' },
      {
        step_id: 2,
        source: 'agent',
        message: '',
        tool_calls: [call],
        observation: { results: [{ source_call_id: 'c1', content: 'ok' }] },
        metrics: { prompt_tokens: 1, completion_tokens: 1, cost_usd: 0 },
      },
    ],
  }
}

function changed(path: readonly (string | number)[], value: unknown): unknown {
  const document: unknown = structuredClone(valid())
  let at = document as Record<string | number, unknown>
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>
  at[path.at(-1) ?? ''] = value
  return document
}

test('accepts everything the format allows', () => {
  expect(atifSchema.safeParse(valid()).success).toBe(true)
})

test.each<[string, (string | number)[], unknown]>([
  ['an unknown field', ['surprise'], 1],
  ['an unknown field of a step', ['steps', 0, 'note'], 'x'],
  ['another version', ['schema_version'], 'ATIF-v2.0'],
  ['no step', ['steps'], []],
  ['an agent without a version', ['agent'], { name: 'a' }],
  ['a gap between steps', ['steps', 1, 'step_id'], 3],
  ['metrics on a step of the user', ['steps', 0, 'metrics'], {}],
  ['a result of no call', ['steps', 1, 'observation', 'results', 0, 'source_call_id'], 'c9'],
  ['two calls with one id', ['steps', 1, 'tool_calls'], [call, call]],
  ['a time that is none', ['steps', 0, 'timestamp'], 'yesterday'],
  ['arguments that are no object', ['steps', 1, 'tool_calls', 0, 'arguments'], 'ls'],
  ['half a token', ['steps', 1, 'metrics', 'prompt_tokens'], 1.5],
  ['metrics where no model was called', ['steps', 1, 'llm_call_count'], 0],
  [
    'an image of an unknown kind',
    ['steps', 0, 'message'],
    [{ type: 'image', source: { media_type: 'image/bmp', path: 'x' } }],
  ],
  [
    'a reference without a target',
    ['steps', 1, 'observation', 'results', 0, 'subagent_trajectory_ref'],
    [{ session_id: 's' }],
  ],
  [
    'a reference to a missing trajectory',
    ['steps', 1, 'observation', 'results', 0, 'subagent_trajectory_ref'],
    [{ trajectory_id: 's' }],
  ],
  ['a subagent without an id', ['subagent_trajectories'], [valid()]],
  [
    'two subagents with the same id',
    ['subagent_trajectories'],
    [
      { ...valid(), trajectory_id: 'x' },
      { ...valid(), trajectory_id: 'x' },
    ],
  ],
  ['an invalid subagent', ['subagent_trajectories'], [{ ...valid(), trajectory_id: 'x', steps: [] }]],
])('refuses %s', (_, path, value) => {
  expect(atifSchema.safeParse(changed(path, value)).success).toBe(false)
})
