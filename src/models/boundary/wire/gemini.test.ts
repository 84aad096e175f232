import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ModelCall, Turn } from '../contract.ts'
import type { ReplyReading, SseEvent } from './contract.ts'
import { gemini } from './gemini.ts'
import { encodeSse } from './sse.ts'
import { describeWireFormat } from './wire.conformance.ts'

describeWireFormat('gemini', {
  format: gemini,
  request: ({ model, stream, text, tools }) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    body: {
      systemInstruction: { role: 'user', parts: [{ text: 'You work.' }] },
      contents: [{ role: 'user', parts: [{ text }] }],
      tools: [{ functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: {} })) }],
      generationConfig: { maxOutputTokens: 100 },
    },
  }),
  reports: { cacheWrite: false, thinkingTokens: true },
  freeForm: 'wrapped',
})

describe('generateContent', () => {
  test('a request of gemini-0.61.0 is read', () => {
    const path = '/v1beta/models/gemini-2.5-flash:streamGenerateContent'
    const call = gemini.readCall(
      fixture('gemini-0.61.0'),
      gemini.route('POST', path) ?? { kind: 'list_models' },
    )
    const ran = (word: string) =>
      `<untrusted_context>\nOutput: ran-${word}\nProcess Group PGID: 100\n</untrusted_context>`
    const shell = (id: string, word: string) => ({
      id,
      name: 'run_shell_command',
      input: { command: `echo ${word} > ${word}.txt; echo ran-${word}`, description: 'x' },
    })
    expect(call).toEqual({
      api: 'gemini',
      kind: 'turn',
      model: 'gemini-2.5-flash',
      stream: true,
      system: 'You are an agent.',
      tools: ['read_file', 'write_file', 'run_shell_command'],
      maxOutputTokens: null,
      messages: [
        {
          role: 'user',
          text: '<session_context>\nThe place and the day.\n</session_context>\nPlease work on this',
          toolCalls: [],
          toolResults: [],
        },
        {
          role: 'assistant',
          text: 'I run both.',
          toolCalls: [shell('toolu_1', 'one'), shell('toolu_2', 'two')],
          toolResults: [],
        },
        {
          role: 'user',
          text: '',
          toolCalls: [],
          toolResults: [
            { id: 'toolu_1', text: ran('one'), isError: false },
            { id: 'toolu_2', text: ran('two'), isError: false },
          ],
        },
      ],
    })
  })

  test('the field names of other client languages are read', () => {
    const call = gemini.readCall(
      {
        system_instruction: { text: 'S' },
        contents: [
          'plain',
          {
            role: 'model',
            parts: [{ text: 'hm', thought: true }, { text: 'a' }, { function_call: { name: 'f' } }],
          },
          { role: 'function', parts: [{ function_response: { name: 'f', response: { error: 'no' } } }] },
          { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'f', response: { rows: 2 } } }] },
        ],
        tools: [{ function_declarations: [{ name: 'f' }] }, { googleSearch: {} }],
        generation_config: { max_output_tokens: 7 },
      },
      { kind: 'generate', model: 'm', stream: false },
    )
    expect(call).toMatchObject({ kind: 'turn', system: 'S', tools: ['f'], maxOutputTokens: 7, stream: false })
    expect(call.messages).toEqual([
      { role: 'user', text: 'plain', toolCalls: [], toolResults: [] },
      { role: 'assistant', text: 'a', toolCalls: [{ id: null, name: 'f', input: {} }], toolResults: [] },
      { role: 'tool', text: '', toolCalls: [], toolResults: [{ id: null, text: 'no', isError: true }] },
      {
        role: 'user',
        text: '',
        toolCalls: [],
        toolResults: [{ id: 'c', text: '{"rows":2}', isError: false }],
      },
    ])
  })

  test('a compaction is recognised by its system text', () => {
    const system = 'You are responsible for distilling chat history into a structured XML <state_snapshot>.'
    const body = { systemInstruction: { parts: [{ text: system }] }, contents: [{ role: 'user', parts: [] }] }
    expect(gemini.readCall(body, { kind: 'generate', model: 'm' }).kind).toBe('compaction')
  })

  test.each([
    ['POST', '/v1beta/models/m:generateContent', { kind: 'generate', model: 'm', stream: false }],
    ['POST', '/v1/models/m:streamGenerateContent', { kind: 'generate', model: 'm', stream: true }],
    ['POST', '/v1alpha/models/a%2Fb:countTokens', { kind: 'count_tokens', model: 'a/b' }],
    ['POST', '/models/m-1.5:generateContent', { kind: 'generate', model: 'm-1.5', stream: false }],
    ['GET', '/v1beta/models', { kind: 'list_models' }],
    ['POST', '/v1beta/models/m:embedContent', null],
    ['POST', '/v1beta/models/m', null],
    ['GET', '/v1beta/models/m:generateContent', null],
  ])('%s %s is %j', (method, path, route) => {
    expect(gemini.route(method, path)).toEqual(route)
  })

  test("usage is written with Google's field names and read back", () => {
    const usage = { input: 10, output: 20, cacheRead: 30, cacheWrite: 0, thinking: 5 }
    const chunk = JSON.parse(
      gemini.encode({ blocks: [], stop: 'end', usage }, call(false), facts).chunks.join(''),
    )
    expect(chunk.usageMetadata).toEqual({
      promptTokenCount: 40,
      candidatesTokenCount: 15,
      thoughtsTokenCount: 5,
      cachedContentTokenCount: 30,
      totalTokenCount: 60,
    })
    expect(read(JSON.stringify(chunk)).tokens).toEqual(usage)
    expect(read('{"usageMetadata":{"promptTokenCount":7}}').tokens).toEqual({
      input: 7,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
    })
  })

  test.each([
    ['end', 'STOP'],
    ['tools', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['refusal', 'SAFETY'],
  ] as const)('a turn that stops by %s says %s, and only at its end', (stop, word) => {
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const turn: Turn = { blocks: [{ kind: 'text', text: 'word '.repeat(60) }], stop, usage }
    const { chunks } = gemini.encode(turn, call(true), facts)
    expect(chunks.filter((chunk) => chunk.includes('finishReason'))).toEqual(chunks.slice(-1))
    expect(chunks.at(-1)).toContain(`"finishReason":"${word}"`)
  })

  test('a stream as one list, a refused prompt and an error in the middle are read', () => {
    const piece = (text: string, ending = {}) => ({
      candidates: [{ content: { parts: [{ text }] }, ...ending }],
    })
    const list = [piece('a'), piece('b', { finishReason: 'STOP' })]
    expect(read(JSON.stringify(list))).toMatchObject({ text: 'ab', complete: true })
    expect(read(JSON.stringify(list.slice(0, 1)))).toMatchObject({ text: 'a', complete: false })
    const refused = encodeSse({ data: '{"promptFeedback":{"blockReason":"SAFETY"}}' })
    expect(read(refused, 'text/event-stream')).toMatchObject({ text: '', complete: true, error: null })
    const error = { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }
    const broken = [piece('a'), error].map((data) => encodeSse({ data: JSON.stringify(data) })).join('')
    expect(read(broken, 'text/event-stream')).toMatchObject({
      text: 'a',
      complete: false,
      error: { type: 'UNAVAILABLE', message: 'Overloaded' },
    })
  })

  test('only text of one kind is joined, and the last usage is kept', () => {
    const event = (part: object, more: object = {}, ending: object = {}): SseEvent => ({
      data: JSON.stringify({ candidates: [{ content: { parts: [part] }, ...ending }], ...more }),
    })
    const call = event({ functionCall: { name: 'f', args: {} } })
    const joined = gemini.mergeDeltas([
      event({ text: 'h', thought: true }),
      event({ text: 'm', thought: true }),
      event({ text: '/ho' }, { usageMetadata: { promptTokenCount: 1 } }),
      event({ text: 'me' }, { usageMetadata: { promptTokenCount: 2 } }, { finishReason: 'STOP' }),
      event({ text: 'after' }),
      call,
      call,
    ])
    expect(joined.map(({ data }) => JSON.parse(data))).toEqual(
      [
        event({ text: 'hm', thought: true }),
        event({ text: '/home' }, { usageMetadata: { promptTokenCount: 2 } }, { finishReason: 'STOP' }),
        event({ text: 'after' }),
        call,
        call,
      ].map(({ data }) => JSON.parse(data)),
    )
  })

  test('the time to wait is also in the body', () => {
    const reply = gemini.encodeFailure({ status: 429, message: 'Slow down', retryAfterSecs: 3 })
    expect(JSON.parse(reply.chunks.join(''))).toEqual({
      error: {
        code: 429,
        message: 'Slow down',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' }],
      },
    })
  })
})

const facts = { id: '1', created: 0 }

function call(stream: boolean): ModelCall {
  return gemini.readCall(null, { kind: 'generate', model: 'm', stream })
}

function read(body: string, contentType = 'application/json'): ReplyReading {
  const reader = gemini.createReader(contentType)
  reader.push(body)
  return reader.end()
}

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', `${name}.request.json`), 'utf8'))
}
