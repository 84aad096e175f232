import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atifSchema } from '../../../test/support/atif-schema.ts'
import { sampleRecord } from '../../../test/support/sample-run.ts'
import type { GantryEvent, Untimed } from '../../core/event.ts'
import { type AtifFacts, toAtif } from './to-atif.ts'

const trial = sampleRecord({
  startedAt: '2026-01-02T03:04:05.000Z',
  tokens: { input: 70, output: 20, cacheRead: 30, cacheWrite: 5, thinking: 7 },
  costUsd: 0.25,
})

describe('a trial as an ATIF trajectory', () => {
  test('prompt, answers, calls and results are steps in order', () => {
    const { steps } = exported([
      { event: 'session', agent: 'codex', agent_version: '0.166.0', session_id: 's1', model: 'gpt-5.5' },
      { event: 'message', role: 'thinking', text: 'Hm.' },
      { event: 'message', role: 'assistant', text: 'Starting.', model: 'gpt-5.5' },
      { event: 'tool_call', id: 'a', tool: 'shell', command: 'ls', input: { command: 'ls' } },
      { event: 'tool_call', id: 'b', tool: 'shell', command: 'pwd', input: { command: 'pwd' } },
      { event: 'tool_result', id: 'b', output: '/work', exit_code: 0, is_error: false },
      { event: 'tool_result', id: 'a', output: 'oops', exit_code: 3, is_error: true },
      { event: 'message', role: 'assistant', text: 'Done.' },
    ])
    expect(steps).toEqual([
      { step_id: 1, timestamp: '2026-01-02T03:04:05.000Z', source: 'user', message: 'Do it.' },
      {
        step_id: 2,
        timestamp: '2026-01-02T03:04:06.000Z',
        source: 'agent',
        message: 'Starting.',
        model_name: 'gpt-5.5',
        reasoning_content: 'Hm.',
        tool_calls: [
          { tool_call_id: 'a', function_name: 'shell', arguments: { command: 'ls' } },
          { tool_call_id: 'b', function_name: 'shell', arguments: { command: 'pwd' } },
        ],
        observation: {
          results: [
            { source_call_id: 'b', content: '/work', extra: { exit_code: 0, is_error: false } },
            { source_call_id: 'a', content: 'oops', extra: { exit_code: 3, is_error: true } },
          ],
        },
      },
      { step_id: 3, timestamp: '2026-01-02T03:04:12.000Z', source: 'agent', message: 'Done.' },
    ])
  })

  test('the head contains the agent and the ending', () => {
    const trajectory = exported([
      { event: 'session', agent: 'copilot', model: 'gpt-4.1', mcp_servers: [] },
      { event: 'session', agent: 'copilot', session_id: 's1' },
    ])
    expect(trajectory).toMatchObject({
      schema_version: 'ATIF-v1.7',
      session_id: 's1',
      trajectory_id: trial.id,
      agent: {
        name: 'copilot',
        version: '1.0.102',
        model_name: 'opus',
        extra: { configured_as: 'claude-code', mcp_servers: [] },
      },
      final_metrics: {
        total_prompt_tokens: 105,
        total_completion_tokens: 20,
        total_cached_tokens: 30,
        total_cost_usd: 0.25,
        total_steps: 1,
        extra: { cache_write_tokens: 5, reasoning_tokens: 7 },
      },
      extra: { gantry: { verdict: 'pass', trial_id: trial.id } },
    })
  })

  test('unknown values are not zero', () => {
    const { final_metrics } = exported([], { trial: { ...trial, tokens: null, costUsd: null } })
    expect(final_metrics).toEqual({ total_steps: 1 })
  })

  test('a prompt that the agent repeats appears once', () => {
    const { steps } = exported([
      { event: 'message', role: 'user', text: 'Do it.' },
      { event: 'message', role: 'assistant', text: 'Done.' },
    ])
    expect(steps.map(({ source }) => source)).toEqual(['user', 'agent'])
  })

  test('a trial without events reports the reason', () => {
    const { steps } = toAtif({ trial: { ...trial, reason: 'The agent did not start.' } }, [])
    expect(steps).toMatchObject([{ source: 'system', message: 'The agent did not start.' }])
  })

  describe('the usage of a step', () => {
    const said = (text: string): Untimed<GantryEvent> => ({ event: 'message', role: 'assistant', text })
    const used = (input_tokens: number, cost_usd?: number): Untimed<GantryEvent> => ({
      event: 'usage',
      input_tokens,
      output_tokens: 1,
      ...(cost_usd === undefined ? {} : { cost_usd }),
    })

    test('is set when the agent reports it after each answer', () => {
      const { steps } = exported([said('a'), used(10), used(5), said('b'), used(20, 0.5)])
      expect(steps.map(({ metrics }) => metrics)).toEqual([
        undefined,
        { prompt_tokens: 15, completion_tokens: 2, cached_tokens: 0 },
        { prompt_tokens: 20, completion_tokens: 1, cached_tokens: 0, cost_usd: 0.5 },
      ])
    })

    test('is not guessed when the agent reports only the total', () => {
      const { steps } = exported([said('a'), said('b'), used(100)])
      expect(steps.map(({ metrics }) => metrics)).toEqual([undefined, undefined, undefined])
    })

    test('does not include corrections of the total at the end', () => {
      const { steps } = exported([said('a'), used(10), used(3, 1)])
      expect(steps.at(-1)?.metrics).toEqual({ prompt_tokens: 10, completion_tokens: 1, cached_tokens: 0 })
    })
  })

  test('a subagent has its own trajectory, referenced by the result of its call, and so do nested ones', () => {
    const trajectory = exported([
      { event: 'tool_call', id: 'task', tool: 'task', input: {} },
      { event: 'message', role: 'assistant', text: 'Sub.', parent_id: 'task' },
      { event: 'tool_call', id: 'deeper', tool: 'task', input: {}, parent_id: 'task' },
      { event: 'message', role: 'assistant', text: 'Subsub.', parent_id: 'deeper' },
      { event: 'tool_result', id: 'deeper', output: 'ok', parent_id: 'task' },
      { event: 'tool_result', id: 'task', output: 'done' },
    ])
    const id = `${trial.id}/task`
    expect(trajectory.steps[1]?.observation?.results).toEqual([
      { source_call_id: 'task', content: 'done', subagent_trajectory_ref: [{ trajectory_id: id }] },
    ])
    expect(trajectory.subagent_trajectories).toMatchObject([
      {
        trajectory_id: id,
        steps: [{ message: 'Sub.' }],
        subagent_trajectories: [{ trajectory_id: `${trial.id}/deeper`, steps: [{ message: 'Subsub.' }] }],
      },
    ])
  })

  test('a subagent that never returned is still referenced', () => {
    const trajectory = exported([
      { event: 'tool_call', id: 'task', tool: 'task', input: {} },
      { event: 'message', role: 'assistant', text: 'Sub.', parent_id: 'task' },
    ])
    expect(trajectory.steps[1]?.observation?.results).toEqual([
      { source_call_id: 'task', subagent_trajectory_ref: [{ trajectory_id: `${trial.id}/task` }] },
    ])
  })

  test('a subagent without a recorded call is kept', () => {
    const { subagent_trajectories } = exported([
      { event: 'message', role: 'assistant', text: 'Sub.', parent_id: 'gone' },
    ])
    expect(subagent_trajectories).toHaveLength(1)
  })

  test('calls without ids are joined with their results in order', () => {
    const { steps } = exported([
      { event: 'tool_call', tool: 'shell', command: 'a' },
      { event: 'tool_call', tool: 'shell', command: 'b' },
      { event: 'tool_result', output: '1' },
      { event: 'tool_result', output: '2' },
      { event: 'tool_result', output: 'of nothing' },
    ])
    expect(steps[1]).toMatchObject({
      tool_calls: [
        { tool_call_id: 'call_1', arguments: { command: 'a' } },
        { tool_call_id: 'call_2', arguments: { command: 'b' } },
      ],
      observation: {
        results: [
          { source_call_id: 'call_1', content: '1' },
          { source_call_id: 'call_2', content: '2' },
          { content: 'of nothing' },
        ],
      },
    })
  })

  test('a command inside the input is listed separately, and an input that is not an object is wrapped', () => {
    const { steps } = exported([
      { event: 'tool_call', id: 'a', tool: 'shell', command: 'ls', input: { command: "bash -lc 'ls'" } },
      { event: 'tool_call', id: 'b', tool: 'apply_patch', input: '*** Begin Patch' },
    ])
    expect(steps[1]?.tool_calls).toMatchObject([
      { arguments: { command: "bash -lc 'ls'" }, extra: { command: 'ls' } },
      { arguments: { input: '*** Begin Patch' } },
    ])
  })

  test('hooks and failures are steps of the system', () => {
    const { steps } = exported([
      { event: 'hook', hook: 'PreToolUse', outcome: 'success' },
      { event: 'error', reason: 'rate_limit', message: 'Slow down.' },
    ])
    expect(steps.slice(1)).toMatchObject([
      {
        source: 'system',
        message: 'The hook PreToolUse ran.',
        extra: { hook: 'PreToolUse', outcome: 'success' },
      },
      { source: 'system', message: 'Slow down.', extra: { reason: 'rate_limit' } },
    ])
  })

  const fixtures = readdirSync(join(import.meta.dirname, '../../agents')).flatMap((agent) => {
    const dir = join(import.meta.dirname, '../../agents', agent, 'fixtures')
    return listed(dir).map((file) => ({ file, text: readFileSync(join(dir, file), 'utf8') }))
  })

  test.each(fixtures)('$file is valid and contains every call and every text', ({ text }) => {
    const events: Untimed<GantryEvent>[] = text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    const written = JSON.stringify(exported(events))
    for (const event of events) {
      if (event.event === 'message') expect(written).toContain(JSON.stringify(event.text))
      if (event.event === 'tool_call' && event.id !== undefined)
        expect(written).toContain(JSON.stringify(event.id))
    }
  })

  test('any log makes a valid trajectory', () => {
    const id = fc.constantFrom('a', 'b', 'c')
    const maybe = fc.option(id, { nil: undefined })
    const event = fc.oneof(
      fc.record({
        event: fc.constant('message'),
        role: fc.constantFrom('assistant', 'user', 'system', 'thinking'),
        text: fc.string(),
        parent_id: maybe,
      }),
      fc.record({
        event: fc.constant('tool_call'),
        id: maybe,
        tool: fc.string(),
        input: fc.jsonValue(),
        parent_id: maybe,
      }),
      fc.record({ event: fc.constant('tool_result'), id: maybe, output: fc.string(), parent_id: maybe }),
      fc.record({ event: fc.constant('usage'), input_tokens: fc.nat(), output_tokens: fc.nat() }),
      fc.record({ event: fc.constant('error'), reason: fc.constant('auth'), message: fc.string() }),
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        exported(JSON.parse(JSON.stringify(events)))
      }),
    )
  })
})

/** Validates every trajectory of these tests against the schema, as JSON. */
function exported(events: readonly Untimed<GantryEvent>[], more: Partial<AtifFacts> = {}) {
  const timed = events.map(
    (event, index) => ({ ts: Date.parse(trial.startedAt) / 1_000 + index, ...event }) as GantryEvent,
  )
  const facts = { trial, prompt: 'Do it.', agentVersion: '1.0.102', ...more }
  return atifSchema.parse(JSON.parse(JSON.stringify(toAtif(facts, timed))))
}

function listed(dir: string): string[] {
  try {
    return readdirSync(dir).filter((file) => file.endsWith('.events.jsonl'))
  } catch {
    return []
  }
}
