import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Block, ModelCall, StopReason } from '../contract.ts'
import type { ReplyReading, SseEvent } from './contract.ts'
import { openaiResponses } from './openai-responses.ts'
import { createSseReader, encodeSse } from './sse.ts'
import { describeWireFormat } from './wire.conformance.ts'

describeWireFormat('openai-responses', {
  format: openaiResponses,
  request: ({ model, stream, text, tools }) => ({
    path: '/v1/responses',
    body: {
      model,
      stream,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }],
      tools: tools.map((name) => ({ type: 'function', name, parameters: {} })),
    },
  }),
  reports: { cacheWrite: true, thinkingTokens: true },
  freeForm: 'kept',
})

describe('the routes of Responses', () => {
  test('are recognised by their end, whatever the prefix', () => {
    expect(openaiResponses.route('POST', '/openai/v1/responses')).toEqual({ kind: 'generate' })
    expect(openaiResponses.route('POST', '/v1/responses/input_tokens')).toEqual({ kind: 'count_tokens' })
    expect(openaiResponses.route('GET', '/v1/models')).toEqual({ kind: 'list_models' })
    expect(openaiResponses.route('POST', '/v1/responses/resp_1/cancel')).toBeNull()
    expect(openaiResponses.route('GET', '/v1/responses/resp_1')).toBeNull()
  })
})

describe('a request of Responses', () => {
  test('of Codex has one message for each of its answers', () => {
    const call = readFixture('openai-responses-codex')
    expect(call).toMatchObject({ kind: 'turn', model: 'gpt-5.5', stream: true, maxOutputTokens: null })
    expect(call.tools).toEqual(expect.arrayContaining(['exec_command', 'apply_patch', 'tool_search']))
    expect(call.system).not.toBe('')
    expect(call.messages.map(({ role }) => role)).toEqual(
      'user user assistant tool assistant tool assistant tool tool tool'.split(' '),
    )
    expect(call.messages[2]).toEqual({
      role: 'assistant',
      text: 'I will look.',
      toolCalls: [
        {
          id: 'call_0_0',
          name: 'exec_command',
          input: { cmd: 'echo from-shell > shell.txt; cat shell.txt' },
        },
      ],
      toolResults: [],
    })
    expect(call.messages[4]?.toolCalls[0]?.input).toMatch(/^\*\*\* Begin Patch\n/)
    expect(call.messages[6]?.toolCalls.map(({ name }) => name)).toEqual([
      'apply_patch',
      'exec_command',
      'exec_command',
    ])
    expect(call.messages[9]?.toolResults[0]).toMatchObject({
      id: 'call_2_2',
      text: expect.stringContaining('Process exited with code 3'),
    })
  })

  test('of Codex offers the tools it has found, with their namespace', () => {
    const call = readFixture('openai-responses-codex-subagent')
    expect(call.tools).toContain('multi_agent_v1.spawn_agent')
    const calls = call.messages.flatMap(({ toolCalls }) => toolCalls)
    expect(calls).toEqual([
      { id: 'call_0_0', name: 'tool_search', input: { query: 'spawn agent wait' } },
      { id: 'call_1_0', name: 'multi_agent_v1.spawn_agent', input: { message: 'CHILD-TASK please' } },
    ])
    expect(call.messages.find(({ role }) => role === 'tool')?.toolResults[0]?.text).toContain(
      'multi_agent_v1.wait_agent',
    )
  })

  test('may be only a text, with instructions', () => {
    const call = read({ input: 'Hi', instructions: 'Be kind.', max_output_tokens: 9 })
    expect(call).toMatchObject({ kind: 'side', system: 'Be kind.', maxOutputTokens: 9, stream: false })
    expect(call.messages).toEqual([{ role: 'user', text: 'Hi', toolCalls: [], toolResults: [] }])
  })

  test('may contain kinds of items that only some agents send', () => {
    const call = read({
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'namespace', name: 'n', tools: [{ name: 't' }] }],
        },
        { role: 'developer', content: 'first' },
        {
          type: 'agent_message',
          author: '/root',
          content: [
            { type: 'input_text', text: 'Payload:' },
            { type: 'encrypted_content', encrypted_content: 'the task' },
          ],
        },
        { type: 'reasoning', summary: [], encrypted_content: 'zzz' },
        { type: 'local_shell_call', call_id: 's', action: { type: 'exec', command: ['ls'] } },
        { type: 'local_shell_call_output', call_id: 's', output: { content: 'listing', success: false } },
        { type: 'item_reference', id: 'x' },
        { role: 'developer', content: 'later' },
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        'garbage',
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Really.' }] },
      ],
    })
    expect(call.tools).toEqual(['n.t'])
    expect(call.system).toBe('first\nlater')
    expect(call.messages).toEqual([
      { role: 'user', text: 'Payload:\nthe task', toolCalls: [], toolResults: [] },
      {
        role: 'assistant',
        text: '',
        toolCalls: [{ id: 's', name: 'local_shell', input: { type: 'exec', command: ['ls'] } }],
        toolResults: [],
      },
      { role: 'tool', text: '', toolCalls: [], toolResults: [{ id: 's', text: 'listing', isError: true }] },
      { role: 'system', text: 'later', toolCalls: [], toolResults: [] },
      { role: 'assistant', text: 'No.\nReally.', toolCalls: [], toolResults: [] },
    ])
  })

  test('with a trigger in its input asks for a compaction', () => {
    const tools = [{ type: 'function', name: 'a' }]
    expect(read({ tools, input: [{ type: 'compaction_trigger' }] }).kind).toBe('compaction')
    expect(read({ tools, input: [] }).kind).toBe('turn')
  })
})

describe('an answer of Responses', () => {
  const blocks: readonly Block[] = [
    { kind: 'thinking', text: 'hm' },
    { kind: 'text', text: 'Look.' },
    { kind: 'tool_call', id: 'c1', name: 'exec_command', input: { cmd: 'ls' } },
    { kind: 'tool_call', id: 'c2', name: 'apply_patch', input: '*** Begin Patch' },
  ]

  test('is streamed item by item, with a number on every event', () => {
    const events = encodeEvents(blocks, 'tools', ['exec_command'])
    expect(events.map(({ event }) => event)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
      'response.output_item.done',
      'response.completed',
    ])
    const bodies = events.map(({ data }) => JSON.parse(data))
    expect(bodies.map(({ sequence_number }) => sequence_number)).toEqual(bodies.map((_, index) => index))
    expect(bodies.map(({ type }) => type)).toEqual(events.map(({ event }) => event))
    expect(bodies.at(-1).response).toMatchObject({
      id: 'resp_7',
      object: 'response',
      created_at: 1,
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Look.' }] },
        { type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"ls"}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin Patch' },
      ],
      usage: {
        input_tokens: 13,
        input_tokens_details: { cached_tokens: 3 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 18,
      },
    })
  })

  test.each([
    ['length', 'max_output_tokens'],
    ['refusal', 'content_filter'],
  ] as const)('that stops for %s is incomplete by %s, but has ended', (stop, reason) => {
    const events = encodeEvents([{ kind: 'text', text: 'a' }], stop, [])
    expect(events.at(-1)?.event).toBe('response.incomplete')
    expect(JSON.parse(events.at(-1)?.data ?? '').response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason },
    })
    expect(readEvents(events)).toMatchObject({ text: 'a', complete: true, error: null })
  })

  test('finds the namespace of a tool, and sends a tool search with its own type', () => {
    const called = (name: string, tools: readonly string[]): unknown => {
      const events = encodeEvents([{ kind: 'tool_call', id: 'c', name, input: { q: 1 } }], 'tools', tools)
      return JSON.parse(events.at(-1)?.data ?? '').response.output[0]
    }
    expect(called('spawn', ['shell', 'team.spawn'])).toMatchObject({ namespace: 'team', name: 'spawn' })
    expect(called('team.spawn', [])).toMatchObject({ namespace: 'team', name: 'spawn' })
    expect(called('spawn', ['a.spawn', 'b.spawn'])).not.toHaveProperty('namespace')
    expect(called('spawn', ['spawn', 'team.spawn'])).not.toHaveProperty('namespace')
    expect(called('.spawn.', [])).toMatchObject({ name: '.spawn.' })
    expect(called('tool_search', ['tool_search'])).toMatchObject({
      type: 'tool_search_call',
      execution: 'client',
      call_id: 'c',
      arguments: { q: 1 },
    })
    expect(called('tool_search', [])).toMatchObject({ type: 'function_call', name: 'tool_search' })
  })

  test('is read as far as it came when its stream was cut', () => {
    const events = encodeEvents(blocks, 'tools', [])
    const cut = events.findIndex(({ event }) => event === 'response.custom_tool_call_input.delta')
    expect(readEvents(events.slice(0, cut + 1))).toEqual({
      model: 'm',
      tokens: null,
      text: 'Look.',
      thinking: 'hm',
      toolCalls: [
        { id: 'c1', name: 'exec_command', input: { cmd: 'ls' } },
        { id: 'c2', name: 'apply_patch', input: '*** Begin Patch' },
      ],
      complete: false,
      error: null,
    })
  })

  test('is read from its last event when a server sends nothing else', () => {
    const last = encodeEvents(blocks, 'tools', []).at(-1)
    expect(readEvents(last ? [last] : [])).toMatchObject({ text: 'Look.', thinking: 'hm', complete: true })
  })

  test.each([
    ['response.failed', { response: { error: { code: 'server_is_overloaded', message: 'busy' } } }],
    ['error', { code: 'server_is_overloaded', message: 'busy', param: null }],
    ['error', { error: { type: 'x', code: 'server_is_overloaded', message: 'busy' } }],
  ])('that fails by %s is an error', (type, rest) => {
    const reading = readEvents([
      {
        event: 'response.output_text.delta',
        data: '{"type":"response.output_text.delta","item_id":"m","delta":"Hal"}',
      },
      { event: type, data: JSON.stringify({ type, sequence_number: 3, ...rest }) },
    ])
    expect(reading).toMatchObject({
      text: 'Hal',
      complete: true,
      error: { type: 'server_is_overloaded', message: 'busy' },
    })
  })
})

describe('joining deltas of Responses', () => {
  test('joins deltas that differ only in sequence number and padding', () => {
    const delta = (number: number, rest: object): SseEvent => ({
      event: 'response.output_text.delta',
      data: JSON.stringify({
        type: 'response.output_text.delta',
        sequence_number: number,
        item_id: 'm',
        output_index: 0,
        content_index: 0,
        logprobs: [],
        ...rest,
      }),
    })
    const merged = openaiResponses.mergeDeltas([
      delta(4, { delta: '/a', obfuscation: 'x' }),
      delta(5, { delta: '/b', obfuscation: 'yy' }),
      delta(6, { delta: '/c', content_index: 1 }),
      delta(7, { delta: '/d', content_index: 1, logprobs: [{ token: '/d' }] }),
    ])
    expect(
      merged.map(({ data }) => JSON.parse(data)).map((body) => [body.sequence_number, body.delta]),
    ).toEqual([
      [4, '/a/b'],
      [6, '/c'],
      [7, '/d'],
    ])
  })

  test('does not change the reading of any stream of deltas', () => {
    const type = fc.constantFrom(
      'response.output_text.delta',
      'response.refusal.delta',
      'response.reasoning_summary_text.delta',
      'response.function_call_arguments.delta',
      'response.custom_tool_call_input.delta',
      'response.unknown.delta',
    )
    const body = fc.record(
      {
        type,
        output_index: fc.constantFrom(0, 1),
        content_index: fc.constantFrom(0, 1),
        item_id: fc.constantFrom('a', 'b'),
        delta: fc.constantFrom('x', '', '{', '}', 7),
        sequence_number: fc.nat(),
      },
      { requiredKeys: ['type'] },
    )
    fc.assert(
      fc.property(fc.array(body, { maxLength: 12 }), (bodies) => {
        const events = bodies.map((one) => ({ event: one.type, data: JSON.stringify(one) }))
        const merged = openaiResponses.mergeDeltas(events)
        expect(readEvents(merged)).toEqual(readEvents(events))
        expect(openaiResponses.mergeDeltas(merged)).toEqual(merged)
      }),
      { numRuns: 300 },
    )
  })
})

function read(body: unknown): ModelCall {
  return openaiResponses.readCall(body, { kind: 'generate' })
}

function readFixture(name: string): ModelCall {
  return read(JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')))
}

function encodeEvents(blocks: readonly Block[], stop: StopReason, tools: readonly string[]): SseEvent[] {
  const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 0, thinking: 2 }
  const call = { ...read({ model: 'm', stream: true }), tools }
  const { chunks } = openaiResponses.encode({ blocks, stop, usage }, call, { id: '7', created: 1 })
  const events: SseEvent[] = []
  createSseReader((event) => events.push(event)).push(chunks.join(''))
  return events
}

function readEvents(events: readonly SseEvent[]): ReplyReading {
  const reader = openaiResponses.createReader('text/event-stream')
  for (const event of events) reader.push(encodeSse(event))
  return reader.end()
}
