import { zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createBudget } from '../budget.ts'
import type { Boundary, BoundarySession, ExchangeFacts, Reply, SessionOptions, Turn } from './contract.ts'
import { createFaultPlan, faultsSchema } from './faults.ts'
import { openBoundary } from './open-boundary.ts'
import { anthropic } from './wire/anthropic.ts'

let boundary: Boundary
beforeEach(async () => {
  boundary = await openBoundary({ maxBodyBytes: 10_000 })
})
afterEach(() => boundary.close())

const prices = { m: { input: 1_000, output: 1_000, cacheRead: 0, cacheWrite: 0 } }

function turn(text: string, more: Partial<Turn> = {}): Reply {
  const usage = { input: 10, output: 20, cacheRead: 0, cacheWrite: 0 }
  return { kind: 'turn', turn: { blocks: [{ kind: 'text', text }], stop: 'end', usage, ...more } }
}

function open(reply: Reply | (() => Reply | Promise<Reply>), more: Partial<SessionOptions> = {}) {
  const exchanges: ExchangeFacts[] = []
  let asked = 0
  const session = boundary.open({
    responder: {
      name: 'test',
      answer: async () => {
        asked += 1
        return typeof reply === 'function' ? reply() : reply
      },
    },
    prices,
    onExchange: (facts) => exchanges.push(facts),
    ...more,
  })
  return { session, exchanges, asked: () => asked }
}

const request = { model: 'm', max_tokens: 32_000, stream: true, messages: [{ role: 'user', content: 'hi' }] }

function post({ endpoint }: BoundarySession, path = '/v1/messages', body: unknown = request) {
  return fetch(endpoint.url + path, { method: 'POST', body: JSON.stringify(body) })
}

async function textOf(response: Response): Promise<string> {
  const reader = anthropic.createReader(response.headers.get('content-type') ?? '')
  reader.push(await response.text())
  return reader.end().text
}

function faults(...rules: object[]): Partial<SessionOptions> {
  return { faults: createFaultPlan(faultsSchema.parse({ faults: rules })) }
}

describe('a session', () => {
  test.each([
    ['/v1/messages', 'anthropic'],
    ['/v1/messages?beta=true', 'anthropic'],
    ['/v1/chat/completions', 'openai-chat'],
    ['/v1/responses', 'openai-responses'],
    ['/v1beta/models/m:streamGenerateContent?alt=sse', 'gemini'],
  ])('answers %s and meters it', async (path, api) => {
    const { session, exchanges } = open(turn('Good morning.'))
    const response = await post(session, path)
    expect(response.status).toBe(200)
    expect((await response.text()).replaceAll(/[^a-zA-Z.]/g, '')).toContain('Good')
    await session.close()
    const tokens = { input: 10, output: 20, cacheRead: 0, cacheWrite: 0 }
    expect(exchanges).toMatchObject([
      { index: 0, api, model: 'm', status: 200, by: 'test', tokens, costUsd: 0.03 },
    ])
    expect(session.report()).toEqual({
      exchanges: 1,
      usage: [{ model: 'm', calls: 1, tokens, costUsd: 0.03 }],
      costUsd: 0.03,
      problem: null,
    })
  })

  test('can be reached with its key when the path has no token', async () => {
    const { session } = open(turn('hello'))
    const url = `http://127.0.0.1:${boundary.port}/v1/messages`
    const headers = { 'x-api-key': session.endpoint.key }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) })
    expect(await textOf(response)).toBe('hello')
  })

  test('sees nothing of another session', async () => {
    const [one, two] = [open(turn('one')), open(turn('two'))]
    const texts = await Promise.all([one, two].map(async ({ session }) => textOf(await post(session))))
    expect(texts).toEqual(['one', 'two'])
    await one.session.close()
    expect((await post(one.session)).status).toBe(401)
    expect(await textOf(await post(two.session))).toBe('two')
    await two.session.close()
    expect(one.session.report().exchanges).toBe(1)
    expect(two.session.report().exchanges).toBe(2)
  })

  test('passes the request on without its token', async () => {
    let seen: unknown
    const { session } = open(turn('x'), {
      responder: {
        name: 'test',
        answer: async ({ http }) => {
          seen = http
          return turn('x')
        },
      },
    })
    await fetch(`${session.endpoint.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: { 'x-api-key': session.endpoint.key, 'anthropic-beta': 'b' },
      body: JSON.stringify(request),
    })
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/v1/messages?beta=true',
      headers: { 'anthropic-beta': 'b' },
    })
    expect(JSON.stringify(seen)).not.toContain(session.endpoint.key)
  })
})

describe('the server', () => {
  test.each([
    ['/wrong/v1/messages', { type: 'error', error: { type: 'authentication_error' } }],
    ['/v1/messages', { type: 'error', error: { type: 'authentication_error' } }],
    ['/wrong/v1/chat/completions', { error: { message: expect.stringContaining('No session') } }],
    ['/nowhere', { error: { message: expect.stringContaining('No session') } }],
  ])('an unknown token at %s gets an error in the API format', async (path, body) => {
    open(turn('secret'))
    const response = await fetch(`http://127.0.0.1:${boundary.port}${path}`, { method: 'POST', body: '{}' })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject(body)
  })

  test('HEAD always succeeds', async () => {
    const url = `http://127.0.0.1:${boundary.port}`
    expect((await fetch(`${url}/api/hello`, { method: 'HEAD' })).status).toBe(200)
  })

  test('an unknown path is a 404 in JSON', async () => {
    const { session } = open(turn('x'))
    const response = await fetch(`${session.endpoint.url}/npm/left-pad`)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({
      error: { message: expect.stringContaining('GET /npm/left-pad') },
    })
  })

  test.each(['', '{', 'null garbage', '\u0000'])('the body %j is a 400 in the API format', async (body) => {
    const { session, asked } = open(turn('x'))
    const response = await fetch(`${session.endpoint.url}/v1/messages`, { method: 'POST', body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
    expect(asked()).toBe(0)
  })

  test.each([null, 7, 'text', [], {}, { messages: 'none', tools: 5, model: {} }])(
    'the JSON %j gets an answer',
    async (body) => {
      const { session } = open(turn('still here'))
      expect((await post(session, '/v1/messages', body)).status).toBe(200)
    },
  )

  test('a compressed body is decompressed, for the responder too', async () => {
    let seen: unknown
    const { session } = open(turn('x'), {
      responder: {
        name: 'test',
        answer: async ({ http, call }) => {
          seen = { body: Buffer.from(http.body).toString(), model: call.model, headers: http.headers }
          return turn('x')
        },
      },
    })
    const body = zstdCompressSync(JSON.stringify(request))
    const headers = { 'content-encoding': 'zstd' }
    await fetch(`${session.endpoint.url}/v1/responses`, { method: 'POST', headers, body })
    expect(seen).toMatchObject({ body: JSON.stringify(request), model: 'm' })
    expect(seen).not.toHaveProperty('headers.content-encoding')
    const init = { method: 'POST', headers, body: 'not zstd' }
    expect((await fetch(`${session.endpoint.url}/v1/responses`, init)).status).toBe(415)
  })

  test('a body that is too large is a 413', async () => {
    const { session } = open(turn('x'))
    const body = ' '.repeat(10_001)
    const response = await fetch(`${session.endpoint.url}/v1/messages`, { method: 'POST', body })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ type: 'error' })
  })

  test('a port in use is reported with a hint', async () => {
    await expect(openBoundary({ port: boundary.port })).rejects.toMatchObject({
      code: 'LOCKED',
      message: `port ${boundary.port} on 127.0.0.1 is already in use`,
      hint: expect.stringContaining('another port'),
    })
  })
})

describe('side requests', () => {
  test('are passed to the responder', async () => {
    const { session, exchanges } = open(() => ({
      kind: 'verbatim',
      ...anthropicCount(77),
    }))
    const response = await post(session, '/v1/messages/count_tokens')
    expect(await response.json()).toMatchObject({ input_tokens: 77 })
    await session.close()
    expect(exchanges).toMatchObject([{ kind: 'count_tokens', by: 'test' }])
  })

  test('are answered by the boundary when the responder has no answer, and do not end the session', async () => {
    const { session } = open({ kind: 'mismatch', problem: 'not on the tape' }, faults({ fault: 'cut' }))
    const counted = await post(session, '/v1/messages/count_tokens')
    expect(await counted.json()).toEqual({ input_tokens: Math.ceil(JSON.stringify(request).length / 4) })
    const listed = await fetch(`${session.endpoint.url}/v1/models`)
    expect(await listed.json()).toMatchObject({ data: [{ id: 'm' }] })
    expect(session.stopped.aborted).toBe(false)
    expect(session.report().problem).toBeNull()
  })

  function anthropicCount(tokens: number) {
    const { status, headers, chunks } = anthropic.encodeCount(tokens)
    return { status, headers, body: chunks }
  }
})

describe('the budget', () => {
  test('refuses the call that exceeds it, and the session is over', async () => {
    const { session, exchanges, asked } = open(turn('x'), { budget: createBudget(1.2) })
    const statuses: number[] = []
    while (statuses.length < 60 && !session.stopped.aborted) {
      const response = await post(session)
      statuses.push(response.status)
      await response.text()
    }
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set([200]))
    expect(statuses.at(-1)).toBe(402)
    expect(session.stopped.aborted).toBe(true)
    expect(session.stopped.reason).toBe('over_budget')
    const answered = asked()
    const refused = await post(session)
    expect(refused.status).toBe(402)
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('the budget of $1.20') },
    })
    expect(asked()).toBe(answered)
    await session.close()
    expect(session.report()).toMatchObject({ problem: null })
    expect(session.report().costUsd).toBeLessThanOrEqual(1.2)
    expect(exchanges.at(-1)).toMatchObject({ by: 'refused', costUsd: null })
  })

  test('is shared by the sessions that use it', async () => {
    const budget = createBudget(1.2)
    const refused = Promise.withResolvers<void>()
    const one = open(turn('x'), { budget })
    const two = open(() => refused.promise.then(() => turn('x')), { budget })
    await (await post(one.session)).text()
    await one.session.close()
    expect(budget.state().spentUsd).toBe(0.03)
    const both = [post(two.session), post(two.session)]
    expect((await Promise.race(both)).status).toBe(402)
    refused.resolve()
    const responses = await Promise.all(both)
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 402])
  })
})

describe('a call without a matching answer', () => {
  test('ends the session with the first problem, and is not retried', async () => {
    let number = 0
    const { session, asked } = open(() => ({ kind: 'mismatch', problem: `call ${number++} is unknown` }))
    const first = await post(session)
    expect(first.status).toBe(402)
    expect(await first.json()).toMatchObject({ error: { message: 'call 0 is unknown' } })
    expect(session.stopped.reason).toBe('mismatch')
    expect((await post(session, '/v1/responses')).status).toBe(400)
    expect(asked()).toBe(1)
    expect(session.report().problem).toBe('call 0 is unknown')
  })

  test('includes a call whose responder fails', async () => {
    const { session } = open(() => {
      throw new Error('the tape is torn')
    })
    expect((await post(session)).status).toBe(402)
    expect(session.report().problem).toBe('test could not answer: the tape is torn')
  })

  test('includes a call whose answer cannot be sent', async () => {
    const budget = createBudget(5)
    const headers = { 'bad header': 'x' }
    const { session } = open({ kind: 'verbatim', status: 200, headers, body: [] }, { budget })
    await expect(post(session)).rejects.toThrow()
    expect(session.report().problem).toContain('could not be sent')
    expect(budget.state().reservedUsd).toBe(0)
  })
})

describe('a verbatim reply', () => {
  test('passes unchanged, without connection headers', async () => {
    const { status, chunks } = anthropic.encodeCount(1)
    const { session, exchanges } = open({
      kind: 'verbatim',
      status,
      headers: {
        'content-type': 'application/json',
        'x-kept': 'yes',
        'Transfer-Encoding': 'chunked',
        'content-length': '9999',
        connection: 'close',
      },
      body: chunks,
      by: 'replay',
    })
    const response = await post(session)
    expect(response.headers.get('x-kept')).toBe('yes')
    expect(response.headers.get('content-length')).toBeNull()
    expect(await response.text()).toBe(chunks.join(''))
    await session.close()
    expect(exchanges).toMatchObject([{ by: 'replay', tokens: null, costUsd: null }])
  })

  test('is cut for the agent too when it breaks off', async () => {
    const { session, exchanges } = open({
      kind: 'verbatim',
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: (async function* () {
        yield 'data: {}\n\n'
        throw new Error('connection reset')
      })(),
    })
    const response = await post(session)
    await expect(response.text()).rejects.toThrow()
    await session.close()
    expect(exchanges).toMatchObject([{ status: 200, tokens: null }])
    expect(session.report().problem).toBeNull()
  })
})

describe('faults', () => {
  test('a status replaces the answer, with retry-after, and costs nothing', async () => {
    const { session, exchanges, asked } = open(
      turn('x'),
      faults({ fault: 'rate_limit', at: 0, retry_after_secs: 3 }),
    )
    const limited = await post(session)
    expect(limited.status).toBe(429)
    expect(limited.headers.get('retry-after')).toBe('3')
    expect(await limited.json()).toMatchObject({ error: { type: 'rate_limit_error' } })
    expect(asked()).toBe(0)
    expect(await textOf(await post(session))).toBe('x')
    await session.close()
    expect(exchanges).toMatchObject([
      { status: 429, by: 'fault', fault: 'status', costUsd: null, retryAfterMs: 3_000 },
      { status: 200, by: 'test' },
    ])
    expect(session.report().costUsd).toBe(0.03)
  })

  test('a cut ends the connection in the middle', async () => {
    const { session, exchanges } = open(turn('a long sentence'), faults({ fault: 'cut', after_chunks: 2 }))
    const response = await post(session)
    const { text, failed } = await readAll(response)
    expect(failed).toBe(true)
    expect(text.split('\n\n')).toHaveLength(3)
    await session.close()
    expect(exchanges).toMatchObject([{ fault: 'cut' }])
  })

  test('a stall lasts until the session ends', async () => {
    const { session, exchanges } = open(turn('a long sentence'), faults({ fault: 'stall', after_chunks: 1 }))
    const response = await post(session)
    const reading = readAll(response)
    const early = await Promise.race([reading, new Promise((done) => setTimeout(done, 50, 'still open'))])
    expect(early).toBe('still open')
    await session.close()
    const { text, failed } = await reading
    expect(failed).toBe(true)
    expect(text).toContain('message_start')
    expect(text).not.toContain('message_stop')
    expect(exchanges).toMatchObject([{ fault: 'stall' }])
  })

  test('a malformed piece breaks one event', async () => {
    const { session } = open(turn('a long sentence'), faults({ fault: 'malformed', after_chunks: 1 }))
    const data = (await (await post(session)).text()).match(/^data: .*$/gm) ?? []
    const broken = data.filter((line) => !parses(line.slice(6)))
    expect(broken).toEqual([data[1]])
  })

  test('a wrong content type is sent', async () => {
    const { session } = open(turn('x'), faults({ fault: 'wrong_content_type' }))
    expect((await post(session)).headers.get('content-type')).toBe('text/html')
  })

  test('a client can give up during a slow first byte', async () => {
    const stop = new AbortController()
    const { session, exchanges } = open(
      () => {
        setTimeout(() => stop.abort(), 5)
        return turn('x')
      },
      faults({ fault: 'slow', delay_ms: 60_000 }),
    )
    const waiting = fetch(`${session.endpoint.url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify(request),
      signal: stop.signal,
    })
    await expect(waiting).rejects.toThrow()
    await session.close()
    expect(exchanges).toMatchObject([{ fault: 'slow_first_byte' }])
  })

  test('delays of a turn are applied', async () => {
    const replies = [turn('late', { delayMs: 600_000 }), turn('early', { delayMs: 2, chunkDelayMs: 2 })]
    const { session } = open(() => replies.shift() ?? turn('none'))
    const late = post(session).then(textOf)
    late.catch(() => {})
    while (replies.length > 1) await new Promise((done) => setTimeout(done, 1))
    expect(await textOf(await post(session))).toBe('early')
    await boundary.close()
    await expect(late).rejects.toThrow()
  })
})

async function readAll(response: Response): Promise<{ text: string; failed: boolean }> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
    return { text, failed: false }
  } catch {
    return { text, failed: true }
  }
}

function parses(json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}
