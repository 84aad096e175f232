import { expect, test } from 'vitest'
import { olderExecutions, olderScenarios, olderTrial } from '../pipeline/unpack-older.ts'

const trial = { id: 'a.alone-1', scenario_id: 'a', arm: 'alone', rep: 1 } as const
const [scenario] =
  olderScenarios([{ id: 'a', component_ref: 'c', component_type: 'hook', user_prompt: 'Hello.' }]) ?? []

const result = (change: object) => ({
  scenario_id: 'a',
  transcript: { metadata: { version: 'v2', timestamp: '2025-01-02T12:00:00Z', model: 'm' }, events: [] },
  detected_tools: [],
  cost_usd: 0.1,
  ...change,
})

async function read(change: object) {
  if (scenario === undefined) throw new Error('there is no scenario')
  return olderTrial(result(change), trial, scenario, { pluginName: 'demo', strategy: 'isolated' })
}

test('captures in camelCase are read, and null is absent', async () => {
  const made = await read({
    detected_tools: [
      { name: 'Bash', input: {}, toolUseId: null, timestamp: 5, isInterrupt: true, success: null },
    ],
    hook_responses: [{ hookName: 'Stop', hookEvent: 'Stop', exitCode: 0, timestamp: 6 }],
    subagent_captures: [{ agentId: 'x', agentType: 'demo:taster', startTimestamp: 7 }],
    model_usage: { one: { inputTokens: 3, outputTokens: 1 }, two: { inputTokens: 4, costUSD: 0.1 } },
    permission_denials: [{ tool_name: 'Write' }],
    termination_type: 'timeout',
  })
  expect(made?.execution).toMatchObject({
    detected_tools: [{ name: 'Bash', tool_use_id: 'unknown-1', timestamp: 5, is_interrupt: true }],
    hook_responses: [{ hook_name: 'Stop', hook_event: 'Stop', exit_code: 0, outcome: 'unknown', stderr: '' }],
    subagent_captures: [{ agent_id: 'x', agent_type: 'demo:taster', start_timestamp: 7 }],
    tokens: { input: 7, output: 1, cacheRead: 0, cacheWrite: 0 },
    permission_denials: ['Write'],
    ending: 'timed_out',
    cost_usd: 0.1,
  })
  expect(made?.execution.detected_tools[0]).not.toHaveProperty('success')
  expect(made?.transcript.metadata).toMatchObject({ version: 'v3.0', model: 'm', plugin_name: 'demo' })
})

test('a session that ended with an API error says nothing about the plugin, so it runs again', async () => {
  const made = await read({ errors: [{ error_type: 'api_error', message: 'overloaded', timestamp: 8 }] })
  expect(made?.execution.failure).toEqual({ reason: 'unavailable', message: 'overloaded' })
})

test('what cannot be read is left out', async () => {
  expect(await read({ transcript: { metadata: {}, events: [{ id: 1 }] } })).toBeNull()
  expect(await read({ detected_tools: [{ input: {} }] })).toBeNull()
  expect([...olderExecutions([null, {}, { scenario_id: 'b/c' }]).keys()]).toEqual([
    expect.stringMatching(/^b-c-/),
  ])
  expect(olderScenarios([{ id: 'a' }])).toBeNull()
  expect(olderScenarios('none')).toBeNull()
})
