import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Turn } from '../contract.ts'
import { anthropic } from './anthropic.ts'
import type { ReplyReading, SseEvent } from './contract.ts'
import { createSseReader, encodeSse } from './sse.ts'
import { describeWireFormat } from './wire.conformance.ts'

describeWireFormat('anthropic', {
  format: anthropic,
  request: ({ model, stream, text, tools }) => ({
    path: '/v1/messages',
    body: {
      model,
      stream,
      max_tokens: 100,
      system: [{ type: 'text', text: 'You work.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      tools: tools.map((name) => ({ name, input_schema: { type: 'object' } })),
    },
  }),
  reports: { cacheWrite: true, thinkingTokens: true },
  freeForm: 'wrapped',
})

describe('the Messages API', () => {
  test.each(['claude-code-2.1.325', 'claude-code-2.1.197'])('a request of %s is read', (agent) => {
    const call = anthropic.readCall(fixture(agent), { kind: 'generate' })
    expect(call).toMatchObject({ kind: 'turn', stream: true, model: expect.stringMatching(/^claude-opus/) })
    expect(call.tools).toContain('Bash')
    expect(call.maxOutputTokens).toBeGreaterThanOrEqual(64_000)
    expect(call.system).toBe(
      'x-billing-header: version\nYou are an agent.\nWork with care.\n# Environment\n - Working directory: /work',
    )
    expect(call.messages.map(({ role }) => role)).toEqual(['user', 'system', 'assistant', 'user'])
    expect(call.messages[0]?.text).toContain('Please work on this')
    expect(call.messages[2]).toEqual({
      role: 'assistant',
      text: 'I run both.',
      toolCalls: [
        {
          id: 'toolu_1',
          name: 'Bash',
          input: { command: 'echo one > one.txt; echo ran-one', description: 'x' },
        },
        {
          id: 'toolu_2',
          name: 'Bash',
          input: { command: 'echo two > two.txt; echo ran-two', description: 'x' },
        },
      ],
      toolResults: [],
    })
    expect(call.messages[3]).toEqual({
      role: 'user',
      text: '',
      toolCalls: [],
      toolResults: [
        { id: 'toolu_1', text: 'ran-one', isError: false },
        { id: 'toolu_2', text: 'ran-two', isError: false },
      ],
    })
  })

  test('content is a text or blocks, and unknown blocks are ignored', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image', source: { type: 'base64', data: 'AAAA' } },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'text', text: 'two' },
      {
        type: 'tool_result',
        tool_use_id: 't',
        is_error: true,
        content: [
          { type: 'text', text: 'a' },
          { type: 'tool_reference', tool_name: 'x' },
          { type: 'text', text: 'b' },
        ],
      },
    ]
    const call = anthropic.readCall(
      {
        model: 'm',
        system: 'S',
        messages: [
          { role: 'user', content: 'plain' },
          { role: 'user', content },
        ],
      },
      { kind: 'count_tokens' },
    )
    expect(call).toMatchObject({ kind: 'count_tokens', system: 'S', stream: false, maxOutputTokens: null })
    expect(call.messages).toEqual([
      { role: 'user', text: 'plain', toolCalls: [], toolResults: [] },
      {
        role: 'user',
        text: 'one\ntwo',
        toolCalls: [],
        toolResults: [{ id: 't', text: 'a\nb', isError: true }],
      },
    ])
  })

  test.each([
    ['POST', '/v1/messages', { kind: 'generate' }],
    ['POST', '/v1/messages/count_tokens', { kind: 'count_tokens' }],
    ['GET', '/v1/models', { kind: 'list_models' }],
    ['POST', '/v1/messages/batches', null],
    ['GET', '/v1/messages', null],
    ['POST', '/v1/complete', null],
  ])('%s %s is %j', (method, path, route) => {
    expect(anthropic.route(method, path)).toEqual(route)
  })

  test('a stream has the order of a real one', () => {
    const types = eventsOf(everything).map(({ event, data }) => {
      expect(JSON.parse(data)).toMatchObject({ type: event })
      return event
    })
    const block = (deltas: number) => [
      'content_block_start',
      ...Array.from({ length: deltas }, () => 'content_block_delta'),
      'content_block_stop',
    ]
    expect(types).toEqual([
      'message_start',
      'ping',
      ...block(2),
      ...block(1),
      ...block(1),
      'message_delta',
      'message_stop',
    ])
  })

  test.each([
    ['end', 'end_turn'],
    ['tools', 'tool_use'],
    ['length', 'max_tokens'],
    ['refusal', 'refusal'],
  ] as const)('a turn that stops by %s says %s', (stop, word) => {
    expect(eventsOf({ ...everything, stop }).at(-2)?.data).toContain(`"stop_reason":"${word}"`)
  })

  test('an error in the middle of a stream is read with the content before it', () => {
    const events = eventsOf(everything).slice(0, 4)
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const reading = read([...events, { event: 'error', data: JSON.stringify(error) }])
    expect(reading).toMatchObject({
      thinking: 'Let me see.',
      tokens: { input: 10, output: 1, cacheRead: 30, cacheWrite: 40 },
      complete: false,
      error: { type: 'overloaded_error', message: 'Overloaded' },
    })
  })

  test('truncated arguments are kept unchanged', () => {
    const begun = { type: 'input_json_delta', partial_json: '{"comm' }
    const cut = [
      ...eventsOf(everything)
        .slice(0, 10)
        .filter(({ data }) => !data.includes('partial_json')),
      sse({ type: 'content_block_delta', index: 2, delta: begun }),
    ]
    expect(read(cut).toolCalls).toEqual([{ id: 'toolu_1', name: 'Bash', input: '{"comm' }])
  })

  test('deltas are joined across a ping, but not across another block', () => {
    const delta = (index: number, text: string) =>
      sse({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })
    const ping = sse({ type: 'ping' })
    const stop = sse({ type: 'content_block_stop', index: 0 })
    expect(anthropic.mergeDeltas([delta(0, '/ho'), ping, delta(0, 'me'), stop, delta(1, 'x')])).toEqual([
      delta(0, '/home'),
      ping,
      stop,
      delta(1, 'x'),
    ])
  })

  test('other fields of joined deltas are kept, and the later value wins', () => {
    const thought = (thinking: string, estimated_tokens: number) =>
      sse({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'thinking_delta', thinking, estimated_tokens },
      })
    expect(anthropic.mergeDeltas([thought('a', 10), thought('b', 25)])).toEqual([thought('ab', 25)])
    const signature = sse({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'signature_delta', signature: 'S' },
    })
    expect(anthropic.mergeDeltas([signature, signature])).toEqual([signature, signature])
  })

  test('usage without thinking tokens has none', () => {
    const { thinking: _, ...usage } = everything.usage
    expect(read(eventsOf({ ...everything, usage })).tokens).toEqual(usage)
    expect(read(eventsOf(everything)).tokens).toEqual(everything.usage)
  })

  test.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [529, 'overloaded_error'],
  ])('status %i is %s', (status, type) => {
    expect(JSON.parse(anthropic.encodeFailure({ status, message: 'm' }).chunks.join(''))).toEqual({
      type: 'error',
      error: { type, message: 'm' },
      request_id: expect.any(String),
    })
  })
})

const everything: Turn = {
  blocks: [
    { kind: 'thinking', text: 'Let me see.' },
    { kind: 'text', text: 'I look.' },
    { kind: 'tool_call', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
  ],
  stop: 'tools',
  usage: { input: 10, output: 20, cacheRead: 30, cacheWrite: 40, thinking: 5 },
}

function eventsOf(turn: Turn): SseEvent[] {
  const call = anthropic.readCall({ model: 'm', stream: true }, { kind: 'generate' })
  const events: SseEvent[] = []
  const reader = createSseReader((event) => events.push(event))
  for (const chunk of anthropic.encode(turn, call, { id: '1', created: 0 }).chunks) reader.push(chunk)
  reader.end()
  return events
}

function read(events: readonly SseEvent[]): ReplyReading {
  const reader = anthropic.createReader('text/event-stream')
  for (const event of events) reader.push(encodeSse(event))
  return reader.end()
}

function sse(body: { readonly type: string; readonly [key: string]: unknown }): SseEvent {
  return { event: body.type, data: JSON.stringify(body) }
}

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', `${name}.request.json`), 'utf8'))
}
