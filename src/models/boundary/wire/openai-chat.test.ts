import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelCall, Turn } from '../contract.ts'
import type { ReplyReading, SseEvent } from './contract.ts'
import { openaiChat } from './openai-chat.ts'
import { createSseReader, encodeSse } from './sse.ts'
import { describeWireFormat } from './wire.conformance.ts'

describeWireFormat('openai-chat', {
  format: openaiChat,
  request: ({ model, stream, text, tools }) => ({
    path: '/v1/chat/completions',
    body: {
      model,
      stream,
      messages: [{ role: 'user', content: text }],
      tools: tools.map((name) => ({ type: 'function', function: { name, parameters: {} } })),
    },
  }),
  reports: { cacheWrite: true, thinkingTokens: true },
  freeForm: 'kept',
})

describe('the route of Chat Completions', () => {
  test('is recognised by its end, whatever the prefix', () => {
    for (const path of ['/chat/completions', '/v1/chat/completions', '/api/openai/v1/chat/completions/'])
      expect(openaiChat.route('POST', path)).toEqual({ kind: 'generate' })
    expect(openaiChat.route('GET', '/v1/models')).toEqual({ kind: 'list_models' })
    expect(openaiChat.route('GET', '/v1/chat/completions')).toBeNull()
    expect(openaiChat.route('POST', '/v1/completions')).toBeNull()
  })
})

describe('a request of Chat Completions', () => {
  test('of Copilot contains its answers and tool results', () => {
    const call = readFixture('openai-chat-copilot')
    expect(call).toMatchObject({ kind: 'turn', model: 'gpt-4.1', stream: true, maxOutputTokens: 16_384 })
    expect(call.tools).toEqual(expect.arrayContaining(['bash', 'create', 'edit', 'task']))
    expect(call.system).not.toBe('')
    expect(rolesOf(call)).toEqual('user assistant tool assistant tool assistant tool tool tool'.split(' '))
    expect(call.messages[5]?.toolCalls.map(({ id, name }) => [id, name])).toEqual([
      ['call_2_0', 'edit'],
      ['call_2_1', 'bash'],
      ['call_2_2', 'bash'],
    ])
    expect(call.messages[1]).toEqual({
      role: 'assistant',
      text: 'I will look.',
      toolCalls: [
        {
          id: 'call_0_0',
          name: 'bash',
          input: { command: 'echo from-shell > shell.txt; cat shell.txt', description: 'd' },
        },
      ],
      toolResults: [],
    })
    expect(call.messages[8]?.toolResults).toEqual([
      { id: 'call_2_2', text: 'par2\n<shellId: 2 completed with exit code 3>', isError: false },
    ])
  })

  test('of opencode is read the same way', () => {
    const call = readFixture('openai-chat-opencode')
    expect(call).toMatchObject({ kind: 'turn', model: 'fake-model', maxOutputTokens: 8_000 })
    expect(call.tools).toEqual(expect.arrayContaining(['bash', 'write', 'edit', 'task']))
    expect(call.messages[0]?.text).toBe('"do the work"')
    expect(rolesOf(call).filter((role) => role === 'assistant')).toHaveLength(3)
  })

  test('has its system text apart, and later system text also in its position', () => {
    const call = read({
      messages: [
        { role: 'system', content: 'one' },
        { role: 'developer', content: [{ type: 'text', text: 'two' }] },
        {
          role: 'user',
          content: [{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }],
        },
        { role: 'system', content: 'three' },
      ],
    })
    expect(call.system).toBe('one\ntwo\nthree')
    expect(call.messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'a\nb'],
      ['system', 'three'],
    ])
  })

  test('may contain free-form tools, legacy function calls, and arguments that are not JSON', () => {
    const call = read({
      max_tokens: 5,
      max_completion_tokens: 7,
      tools: [{ type: 'custom', custom: { name: 'patch' } }, { type: 'web_search' }, null],
      functions: [{ name: 'old' }],
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'a', type: 'custom', custom: { name: 'patch', input: '*** text' } },
            { id: 'b', type: 'function', function: { name: 'broken', arguments: '{"a":' } },
            { id: 'c', type: 'function', function: { name: 'empty', arguments: '' } },
          ],
          function_call: { name: 'old', arguments: '{"x":1}' },
        },
        { role: 'function', name: 'old', content: 'result' },
      ],
    })
    expect(call.tools).toEqual(['patch', 'web_search', 'old'])
    expect(call.maxOutputTokens).toBe(7)
    expect(call.messages[0]?.toolCalls).toEqual([
      { id: 'a', name: 'patch', input: '*** text' },
      { id: 'b', name: 'broken', input: '{"a":' },
      { id: 'c', name: 'empty', input: {} },
      { id: null, name: 'old', input: { x: 1 } },
    ])
    expect(call.messages[1]?.toolResults).toEqual([{ id: null, text: 'result', isError: false }])
  })
})

describe('an answer of Chat Completions', () => {
  test('is streamed as role, thinking, text, calls, reason, usage, end', () => {
    const turn: Turn = {
      blocks: [
        { kind: 'thinking', text: 'hm' },
        { kind: 'text', text: 'Look.' },
        { kind: 'tool_call', id: 'c1', name: 'bash', input: { command: 'ls' } },
        { kind: 'tool_call', id: 'c2', name: 'patch', input: 'free' },
      ],
      stop: 'tools',
      usage: { input: 10, output: 5, cacheRead: 3, cacheWrite: 0, thinking: 2 },
    }
    const { chunks, headers } = openaiChat.encode(turn, read({ stream: true, model: 'm' }), facts)
    expect(headers['content-type']).toContain('text/event-stream')
    const events = eventsOf(chunks.join(''))
    expect(events.at(-1)).toEqual({ data: '[DONE]' })
    const bodies = events.slice(0, -1).map(({ data }) => JSON.parse(data))
    expect(bodies.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { content: 'Look.' },
      { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'bash', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"command":"ls"}' } }] },
      { tool_calls: [{ index: 1, id: 'c2', type: 'custom', custom: { name: 'patch', input: '' } }] },
      { tool_calls: [{ index: 1, custom: { input: 'free' } }] },
      {},
      undefined,
    ])
    expect(bodies.map(({ choices }) => choices[0]?.finish_reason).slice(-3)).toEqual([
      null,
      'tool_calls',
      undefined,
    ])
    expect(bodies.at(-1)).toMatchObject({
      id: 'chatcmpl-7',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [],
      usage: {
        prompt_tokens: 13,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens: 5,
        completion_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 18,
      },
    })
  })

  test.each([
    ['end', 'stop'],
    ['tools', 'tool_calls'],
    ['length', 'length'],
    ['refusal', 'content_filter'],
  ] as const)('that stops for %s says %s', (stop, reason) => {
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const reply = openaiChat.encode({ blocks: [], stop, usage }, read({ model: 'm' }), facts)
    expect(JSON.parse(reply.chunks.join('')).choices[0].finish_reason).toBe(reason)
  })

  test('of a server that sends `reasoning`, no index or both in one chunk is read', () => {
    const reading = readStream([
      { choices: [{ delta: { role: 'assistant', content: '', reasoning: 'hm ' } }], model: 'm' },
      { choices: [{ delta: { reasoning: 'so', reasoning_content: 'so' } }] },
      {
        choices: [
          { delta: { content: 'Hi', tool_calls: [{ id: 'a', function: { name: 'x', arguments: '{"p"' } }] } },
        ],
      },
      { choices: [{ delta: { tool_calls: [{ function: { arguments: ':1}' } }] } }] },
      { choices: [{ delta: { tool_calls: [{ id: 'b', function: { name: 'y', arguments: {} } }] } }] },
      { choices: [{ index: 1, delta: { content: 'of another choice' } }] },
      {
        choices: [{ delta: {}, finish_reason: 'tool_calls' }],
        usage: { prompt_tokens: 4, completion_tokens: 2 },
      },
    ])
    expect(reading).toEqual({
      model: 'm',
      tokens: { input: 4, output: 2, cacheRead: 0, cacheWrite: 0 },
      text: 'Hi',
      thinking: 'hm so',
      toolCalls: [
        { id: 'a', name: 'x', input: { p: 1 } },
        { id: 'b', name: 'y', input: {} },
      ],
      complete: true,
      error: null,
    })
  })

  test('that fails in the middle of its stream is an error', () => {
    const reader = openaiChat.createReader('text/event-stream')
    reader.push(encodeSse({ data: JSON.stringify({ choices: [{ delta: { content: 'Hal' } }] }) }))
    reader.push(
      encodeSse({ data: JSON.stringify({ error: { message: 'gone', type: 'server_error', code: 502 } }) }),
    )
    expect(reader.end()).toMatchObject({ text: 'Hal', error: { type: 'server_error', message: 'gone' } })
  })
})

describe('joining chunks of Chat Completions', () => {
  test('joins the pieces of each call with its start, and nothing across calls, reasons and usage', () => {
    const call = (index: number, rest: object): object => ({ tool_calls: [{ index, ...rest }] })
    const deltas = [
      { role: 'assistant', content: '' },
      { content: '/a' },
      { content: '/b', refusal: null },
      call(0, { id: 'x', type: 'function', function: { name: 'read', arguments: '{"p":"/' } }),
      call(0, { function: { arguments: 'etc"}' } }),
      call(1, { id: 'y', type: 'function', function: { name: 'read', arguments: '' } }),
      call(1, { function: { arguments: '{' } }),
      call(1, { function: { arguments: '}' } }),
    ]
    const events = deltas.map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] }))
    const end = [
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
      chunk({ choices: [], usage: { prompt_tokens: 1 } }),
      { data: '[DONE]' },
    ]
    const merged = openaiChat.mergeDeltas([...events, ...end])
    expect(merged.slice(0, -3).map(({ data }) => JSON.parse(data).choices[0].delta)).toEqual([
      { role: 'assistant', content: '/a/b' },
      call(0, { id: 'x', type: 'function', function: { name: 'read', arguments: '{"p":"/etc"}' } }),
      call(1, { id: 'y', type: 'function', function: { name: 'read', arguments: '{}' } }),
    ])
    expect(merged.slice(-3)).toEqual(end)
  })

  test('does not join chunks with usage, log probabilities or another choice', () => {
    const said = { index: 0, delta: { content: 'a' } }
    const more = [
      chunk({ choices: [said], usage: { prompt_tokens: 1 } }),
      chunk({ choices: [{ ...said, logprobs: { content: [] } }] }),
      chunk({ choices: [{ ...said, index: 1 }] }),
      chunk({ choices: [said, said] }),
      chunk({ choices: [{ ...said, finish_reason: 'stop' }] }),
    ]
    for (const event of more) {
      const events = [chunk({ choices: [said] }), event]
      expect(openaiChat.mergeDeltas(events)).toEqual(events)
    }
  })

  test('leaves a chunk alone that is nested too deep to be written again', () => {
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const data = `{"choices":[{"index":0,"delta":{"content":"a"}}],"extra":${nested}}`
    expect(openaiChat.mergeDeltas([{ data }, { data }])).toHaveLength(2)
  })

  test('does not change the reading of any stream of chunks', () => {
    const text = fc.constantFrom('', 'a', 'b', '{', null)
    const call = fc.record({
      index: fc.constantFrom(0, 0, 1),
      id: fc.constantFrom('x', null, null),
      function: fc.record({ name: fc.constantFrom('f', undefined), arguments: text }),
    })
    const delta = fc.oneof(
      fc.record({ content: text }),
      fc.record({ tool_calls: fc.tuple(call) }),
      fc.record(
        {
          role: fc.constant('assistant'),
          content: text,
          reasoning_content: text,
          tool_calls: fc.array(call, { maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
    )
    const choice = fc.record({ index: fc.constantFrom(0, 0, 1), delta })
    const body = fc.record(
      {
        id: fc.constantFrom('1', '1', '1', undefined),
        model: fc.constantFrom('m', 'm', 'm', 'n', undefined),
        choices: fc.oneof({ weight: 3, arbitrary: fc.tuple(choice) }, fc.array(choice, { maxLength: 2 })),
        usage: fc.constantFrom(null, null, { prompt_tokens: 1 }, { prompt_tokens: 2 }),
      },
      { requiredKeys: ['id', 'model', 'choices'] },
    )
    fc.assert(
      fc.property(fc.array(body, { maxLength: 12 }), (bodies) => {
        const events = bodies.map(chunk)
        const merged = openaiChat.mergeDeltas(events)
        expect(readEvents(merged)).toEqual(readEvents(events))
        expect(openaiChat.mergeDeltas(merged)).toEqual(merged)
      }),
      { numRuns: 300 },
    )
  })
})

const facts = { id: '7', created: 1 }

function chunk(body: object): SseEvent {
  return { data: JSON.stringify(body) }
}

function read(body: unknown): ModelCall {
  return openaiChat.readCall(body, { kind: 'generate' })
}

function readFixture(name: string): ModelCall {
  return read(JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8')))
}

function rolesOf({ messages }: ModelCall): readonly string[] {
  return messages.map(({ role }) => role)
}

function readStream(bodies: readonly object[]): ReplyReading {
  return readEvents([...bodies.map(chunk), { data: '[DONE]' }])
}

function readEvents(events: readonly SseEvent[]): ReplyReading {
  const reader = openaiChat.createReader('text/event-stream')
  for (const event of events) reader.push(encodeSse(event))
  return reader.end()
}

function eventsOf(text: string): SseEvent[] {
  const events: SseEvent[] = []
  createSseReader((event) => events.push(event)).push(text)
  return events
}
