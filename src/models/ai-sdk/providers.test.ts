import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { type LoopStep, modelFailureOf, type Tool } from '../contract.ts'
import { type ModelContext, resolveModel } from '../index.ts'

interface Seen {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

type Answer =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown }
  | ((response: ServerResponse) => void)

/** Answers one request after the other; the last answer is given again. */
const loopback = async (answers: readonly Answer[]) => {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    seen.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text || 'null') })
    const answer = answers[Math.min(seen.length, answers.length) - 1]
    if (typeof answer === 'function') return answer(response)
    const body = typeof answer?.body === 'string' ? answer.body : JSON.stringify(answer?.body)
    response.writeHead(answer?.status ?? 200, { 'content-type': 'application/json', ...answer?.headers })
    response.end(body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

interface Wire {
  readonly model: string
  readonly path: string
  readonly key: Record<string, string>
  readonly env: (url: string) => Record<string, string>
  readonly text: (text: string) => unknown
  readonly calls: (calls: readonly { id: string; name: string; input: unknown }[]) => unknown
  readonly error: (type: string, message: string) => unknown
  readonly refusal: unknown
  readonly usedUp: unknown
  readonly tooLong: { readonly status: number; readonly body: unknown }
  /** Where the schema for the answer stands. */
  readonly schemaSent: object
  /** How the result of a failed tool named `look`, called as `c2`, is sent back. */
  readonly toolError: object
}

const anthropicBody = (content: readonly unknown[], stop: string): unknown => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5-5',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage: {
    input_tokens: 100,
    output_tokens: 50,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 20,
    output_tokens_details: { thinking_tokens: 10 },
  },
})

const responsesBody = (output: readonly unknown[], more: object = {}): unknown => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-6.1-terra',
  output,
  usage: {
    input_tokens: 150,
    input_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
    output_tokens: 50,
    output_tokens_details: { reasoning_tokens: 10 },
    total_tokens: 200,
  },
  ...more,
})

const chatBody = (message: object, finish: string): unknown => ({
  id: 'chat_1',
  object: 'chat.completion',
  created: 1,
  model: 'local',
  choices: [{ index: 0, finish_reason: finish, message: { role: 'assistant', content: null, ...message } }],
  usage: {
    prompt_tokens: 150,
    completion_tokens: 50,
    total_tokens: 200,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 10 },
  },
})

const geminiBody = (parts: readonly unknown[], finish: string): unknown => ({
  candidates: [{ index: 0, finishReason: finish, content: { role: 'model', parts } }],
  modelVersion: 'gemini-3.8-flash',
  usageMetadata: {
    promptTokenCount: 150,
    candidatesTokenCount: 40,
    thoughtsTokenCount: 10,
    cachedContentTokenCount: 30,
    totalTokenCount: 200,
  },
})

const wires: Readonly<Record<string, Wire>> = {
  anthropic: {
    model: 'anthropic:claude-sonnet-5-5',
    path: '/v1/messages',
    key: { 'x-api-key': 'k' },
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'k' }),
    text: (text) =>
      anthropicBody(
        [
          { type: 'thinking', thinking: 'hm', signature: 'sig' },
          { type: 'text', text },
        ],
        'end_turn',
      ),
    calls: (calls) =>
      anthropicBody(
        [
          { type: 'thinking', thinking: 'hm', signature: 'sig' },
          ...calls.map((call) => ({ type: 'tool_use', ...call })),
        ],
        'tool_use',
      ),
    error: (type, message) => ({ type: 'error', error: { type, message } }),
    refusal: anthropicBody([], 'refusal'),
    usedUp: anthropicBody([{ type: 'thinking', thinking: 'hm', signature: 'sig' }], 'max_tokens'),
    tooLong: {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 1200000 tokens > 1000000 maximum',
        },
      },
    },
    schemaSent: { output_config: { format: { type: 'json_schema' } } },
    toolError: {
      messages: expect.arrayContaining([
        {
          role: 'user',
          content: expect.arrayContaining([
            expect.objectContaining({ type: 'tool_result', tool_use_id: 'c2', is_error: true }),
          ]),
        },
      ]),
    },
  },
  openai: {
    model: 'openai:gpt-6.1-terra',
    path: '/v1/responses',
    key: { authorization: 'Bearer k' },
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1/`, OPENAI_API_KEY: 'k' }),
    text: (text) =>
      responsesBody([
        {
          type: 'reasoning',
          id: 'rs_1',
          encrypted_content: 'enc',
          summary: [{ type: 'summary_text', text: 'hm' }],
        },
        {
          type: 'message',
          id: 'm_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]),
    calls: (calls) =>
      responsesBody([
        {
          type: 'reasoning',
          id: 'rs_1',
          encrypted_content: 'enc',
          summary: [{ type: 'summary_text', text: 'hm' }],
        },
        ...calls.map(({ id, name, input }) => ({
          type: 'function_call',
          id: `fc_${id}`,
          call_id: id,
          name,
          arguments: typeof input === 'string' ? input : JSON.stringify(input),
          status: 'completed',
        })),
      ]),
    error: (type, message) => ({ error: { message, type, code: type, param: null } }),
    refusal: responsesBody([
      {
        type: 'message',
        id: 'm_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'refusal', refusal: 'I cannot help with that' }],
      },
    ]),
    usedUp: responsesBody([{ type: 'reasoning', id: 'rs_1', summary: [] }], {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    }),
    tooLong: {
      status: 400,
      body: {
        error: {
          message: 'Your input exceeds the context window of this model.',
          type: 'invalid_request_error',
          code: 'context_length_exceeded',
          param: 'input',
        },
      },
    },
    schemaSent: { text: { format: { type: 'json_schema', strict: false } }, store: false },
    toolError: {
      input: expect.arrayContaining([
        expect.objectContaining({ type: 'function_call_output', call_id: 'c2' }),
        expect.objectContaining({ type: 'reasoning', encrypted_content: 'enc' }),
      ]),
    },
  },
  'openai-compatible': {
    model: 'openai-compatible:local',
    path: '/v1/chat/completions',
    key: { authorization: 'Bearer other' },
    env: (url) => ({ AGENT_LLM_BASE_URL: `${url}/v1`, ANTHROPIC_API_KEY: 'other' }),
    text: (text) => chatBody({ content: text, reasoning_content: 'hm' }, 'stop'),
    calls: (calls) =>
      chatBody(
        {
          reasoning_content: 'hm',
          tool_calls: calls.map(({ id, name, input }) => ({
            id,
            type: 'function',
            function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
          })),
        },
        'tool_calls',
      ),
    error: (type, message) => ({ error: { message, type, code: type } }),
    refusal: chatBody({ content: '' }, 'content_filter'),
    usedUp: chatBody({ content: '' }, 'length'),
    tooLong: {
      status: 400,
      body: {
        error: { message: "This model's maximum context length is 8192 tokens.", type: 'BadRequestError' },
      },
    },
    schemaSent: { response_format: { type: 'json_schema' } },
    toolError: {
      messages: expect.arrayContaining([expect.objectContaining({ role: 'tool', tool_call_id: 'c2' })]),
    },
  },
  google: {
    model: 'google:gemini-3.8-flash',
    path: '/v1beta/models/gemini-3.8-flash:generateContent',
    key: { 'x-goog-api-key': 'k' },
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'k' }),
    text: (text) =>
      geminiBody(
        [
          { text: 'hm', thought: true },
          { text, thoughtSignature: 'sig' },
        ],
        'STOP',
      ),
    calls: (calls) =>
      geminiBody(
        [
          { text: 'hm', thought: true },
          ...calls.map(({ id, name, input }) => ({
            functionCall: { id, name, args: input },
            thoughtSignature: 'sig',
          })),
        ],
        'STOP',
      ),
    error: (type, message) => ({ error: { code: 400, message, status: type } }),
    refusal: { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 5 } },
    usedUp: geminiBody([], 'MAX_TOKENS'),
    tooLong: {
      status: 400,
      body: {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        },
      },
    },
    schemaSent: { generationConfig: { responseMimeType: 'application/json' } },
    toolError: {
      contents: expect.arrayContaining([
        expect.objectContaining({
          parts: expect.arrayContaining([{ functionResponse: expect.objectContaining({ name: 'look' }) }]),
        }),
      ]),
    },
  },
}

const endWith =
  (body: string) =>
  (response: ServerResponse): void => {
    response.end(body)
  }

const reset = (response: ServerResponse): void => {
  response.destroy()
}

const cutOff = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
  response.write('{"id": "x", ')
  setTimeout(() => response.destroy(), 5)
}

const failureOf = async (call: Promise<unknown>) => {
  try {
    await call
  } catch (error) {
    return modelFailureOf(error)
  }
  throw new Error('it should have failed')
}

const look: Tool = {
  name: 'look',
  description: 'Looks at a thing.',
  input: z.object({ at: z.string(), closely: z.boolean().optional() }),
  run: async () => {
    throw new Error('nothing to see')
  },
}

describe.each(Object.entries(wires))('%s', (_, wire) => {
  const open = async (answers: readonly Answer[], context: Partial<ModelContext> = {}) => {
    const server = await loopback(answers)
    const waits: number[] = []
    const model = await resolveModel(wire.model, {
      env: wire.env(server.url),
      base: '/',
      random: () => 0,
      sleep: async (ms) => void waits.push(ms),
      ...context,
    })
    return { model, waits, seen: server.seen }
  }

  test('gives text, and counts every kind of token once', async () => {
    const { model, seen } = await open([{ body: wire.text('hello') }])
    const answer = await model.text({ system: 'be short', prompt: 'hi', maxOutputTokens: 77 })
    expect(answer.value).toBe('hello')
    const { input, output, cacheRead, cacheWrite, thinking } = answer.tokens
    expect({ total: input + cacheRead + cacheWrite, output, cacheRead, thinking }).toEqual({
      total: 150,
      output: 50,
      cacheRead: 30,
      thinking: 10,
    })
    expect(seen).toMatchObject([{ path: wire.path, headers: wire.key }])
    expect(JSON.stringify(seen[0]?.body)).toMatch(/be short.*77|77.*be short/)
  })

  test('is held to a schema where the provider can be', async () => {
    const { model, seen } = await open([{ body: wire.text('{"n": 3}') }])
    const schema = z.object({ n: z.number(), why: z.string().optional() })
    expect((await model.structured({ prompt: 'x', schema })).value).toEqual({ n: 3 })
    expect(seen).toMatchObject([{ body: wire.schemaSent }])
  })

  test('goes on without a schema when the provider refuses it, and does not offer it again', async () => {
    const refused = {
      status: 400,
      body: wire.error('invalid_request_error', 'Invalid schema for response_format'),
    }
    const { model, seen } = await open([refused, { body: wire.text('{"n": 3}') }])
    const schema = z.object({ n: z.number() })
    expect((await model.structured({ prompt: 'x', schema })).value).toEqual({ n: 3 })
    await model.structured({ prompt: 'x', schema })
    expect(seen).toHaveLength(3)
    expect(seen[1]?.body).not.toMatchObject(wire.schemaSent)
    expect(seen[2]?.body).not.toMatchObject(wire.schemaSent)
  })

  test('uses tools, gives the answer back as it came, and tells a failed tool as such', async () => {
    const calls = [
      { id: 'c1', name: 'wink', input: { at: 'you' } },
      { id: 'c2', name: 'look', input: { at: 'the sky' } },
    ]
    const { model, seen } = await open([{ body: wire.calls(calls) }, { body: wire.text('done') }])
    const steps: LoopStep[] = []
    const answer = await model.loop({ prompt: 'x', tools: [look], onStep: (step) => steps.push(step) })
    expect(answer).toMatchObject({ value: 'done', turns: 2, ending: 'done', tokens: { output: 100 } })
    expect(steps.map(({ kind }) => kind)).toEqual([
      'thinking',
      'usage',
      'tool_call',
      'tool_call',
      'tool_result',
      'tool_result',
      'thinking',
      'text',
      'usage',
    ])
    expect(steps.filter(({ kind }) => kind === 'tool_result')).toMatchObject([
      { id: 'c1', name: 'wink', isError: true, output: expect.stringContaining('There is no tool "wink"') },
      { id: 'c2', name: 'look', isError: true, output: 'nothing to see' },
    ])
    expect(seen[1]?.body).toMatchObject(wire.toolError)
    expect(JSON.stringify(seen[1]?.body)).toContain('nothing to see')
  })

  test.each([
    [401, 'authentication_error', 'auth'],
    [403, 'permission_error', 'auth'],
    [404, 'not_found_error', 'unavailable'],
    [400, 'invalid_request_error', 'unavailable'],
  ] as const)('%i is %s: %s, and is not tried again', async (status, type, reason) => {
    const { model, seen } = await open([{ status, body: wire.error(type, 'told so') }])
    const failure = await failureOf(model.text({ prompt: 'x' }))
    expect(failure).toMatchObject({ reason, message: expect.stringContaining(`${status} told so`) })
    expect(seen).toHaveLength(1)
  })

  test('waits as long as a 429 asks, then answers', async () => {
    const limited = {
      status: 429,
      headers: { 'retry-after': '7' },
      body: wire.error('rate_limit_error', 'slow'),
    }
    const { model, waits } = await open([limited, { body: wire.text('hello') }])
    expect((await model.text({ prompt: 'x' })).value).toBe('hello')
    expect(waits).toEqual([7_000])
  })

  test.each([
    [529, 'overloaded'],
    [503, 'overloaded'],
    [500, 'unavailable'],
    [502, 'unavailable'],
  ] as const)('%i is %s after five calls', async (status, reason) => {
    const { model, seen } = await open([{ status, body: '<html>oops</html>' }])
    expect(await failureOf(model.text({ prompt: 'x' }))).toMatchObject({ reason })
    expect(seen).toHaveLength(5)
  })

  test('tells a conversation that is too long, a refusal and an answer that was all thought', async () => {
    const long = await open([wire.tooLong])
    expect(await failureOf(long.model.text({ prompt: 'x' }))).toMatchObject({ reason: 'context' })
    const refused = await open([{ body: wire.refusal }])
    expect(await failureOf(refused.model.text({ prompt: 'x' }))).toMatchObject({ reason: 'refused' })
    expect(refused.seen).toHaveLength(1)
    const usedUp = await open([{ body: wire.usedUp }])
    expect(await failureOf(usedUp.model.text({ prompt: 'x' }))).toMatchObject({ reason: 'malformed' })
  })

  test.each([
    ['a body that is no JSON', ['malformed'], endWith('{"id": ')],
    // The SDK for OpenAI tells an answer without output as a broken server.
    ['JSON of another kind', ['malformed', 'unavailable'], endWith('{"hello": "world"}')],
    ['a body that is cut off', ['unavailable'], cutOff],
    ['a connection that is reset', ['unavailable'], reset],
  ] as const)('%s is %s, and the next call may do better', async (_name, reasons, broken) => {
    const healed = await open([broken, { body: wire.text('hello') }])
    expect((await healed.model.text({ prompt: 'x' })).value).toBe('hello')
    const lost = await open([broken], { retry: { attempts: 2, firstWaitMs: 1, longestWaitMs: 1 } })
    expect(reasons).toContain((await failureOf(lost.model.text({ prompt: 'x' })))?.reason)
    expect(lost.seen).toHaveLength(2)
  })

  test('a server that does not answer is a timeout; an interruption ends the call at once', async () => {
    const silent = await open([() => undefined], { timeoutMs: 40 })
    expect(await failureOf(silent.model.text({ prompt: 'x' }))).toMatchObject({ reason: 'timeout' })
    const patient = await open([() => undefined])
    const stop = new AbortController()
    const call = patient.model.text({ prompt: 'x', signal: stop.signal })
    setTimeout(() => stop.abort(), 20)
    await expect(call).rejects.toMatchObject({ code: 'INTERRUPTED' })
  })

  test('nobody at the address is told at once', async () => {
    const model = await resolveModel(wire.model, { env: wire.env('http://127.0.0.1:1'), base: '/' })
    const failure = await failureOf(model.text({ prompt: 'x' }))
    expect(failure).toMatchObject({
      reason: 'unavailable',
      message: expect.stringContaining('http://127.0.0.1:1'),
    })
  })
})

test('Anthropic is told what to keep: the system text, and in a loop all that was said', async () => {
  const wire = wires.anthropic
  if (wire === undefined) throw new Error('gone')
  const server = await loopback([
    { body: wire.calls([{ id: 'c2', name: 'look', input: { at: 'it' } }]) },
    { body: wire.text('done') },
  ])
  const model = await resolveModel(wire.model, { env: wire.env(server.url), base: '/' })
  await model.loop({ system: 'be kind', prompt: 'x', tools: [look] })
  await model.text({ system: 'be kind', prompt: 'x' })
  const mark = { cache_control: { type: 'ephemeral' } }
  const marks = server.seen.map(
    ({ body }) => JSON.stringify(body).split(JSON.stringify(mark).slice(1, -1)).length - 1,
  )
  expect(marks).toEqual([2, 2, 1])
  expect(server.seen[1]?.body).toMatchObject({
    system: [{ text: 'be kind', ...mark }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
      { role: 'assistant', content: [{ type: 'thinking', signature: 'sig' }, { type: 'tool_use' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c2', ...mark }] },
    ],
  })
})

test('a temperature that the model refuses is left out from then on', async () => {
  const wire = wires['openai-compatible']
  if (wire === undefined) throw new Error('gone')
  const refused = {
    status: 400,
    body: wire.error('invalid', "'temperature' does not support 0 with this model"),
  }
  const server = await loopback([refused, { body: wire.text('ok') }])
  const model = await resolveModel(wire.model, { env: wire.env(server.url), base: '/' })
  await model.text({ prompt: 'x', temperature: 0 })
  await model.text({ prompt: 'x', temperature: 0 })
  expect(server.seen.map(({ body }) => JSON.stringify(body).includes('temperature'))).toEqual([
    true,
    false,
    false,
  ])
})

test('the SDK writes nothing on the screen', async () => {
  const wire = wires.openai
  if (wire === undefined) throw new Error('gone')
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => {
    vi.restoreAllMocks()
  })
  const server = await loopback([{ body: wire.text('ok') }])
  const model = await resolveModel(wire.model, { env: wire.env(server.url), base: '/' })
  // A model that thinks takes no temperature, about which the SDK would warn.
  await model.text({ prompt: 'x', temperature: 0 })
  expect(server.seen[0]?.body).not.toHaveProperty('temperature')
  expect(warned).not.toHaveBeenCalled()
})
