import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ExchangeFacts } from './contract.ts'
import { openBoundary } from './open-boundary.ts'
import { createUpstreamResponder, hasKey, type Upstream, upstreamFrom } from './upstream.ts'
import { anthropic } from './wire/anthropic.ts'

const request = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })
const realKey = 'sk-real-key'

interface Heard {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function provider(listener: RequestListener): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = []
  const server = createServer(async (incoming, outgoing) => {
    let body = ''
    for await (const chunk of incoming) body += String(chunk)
    heard.push({ url: incoming.url ?? '', headers: incoming.headers, body })
    listener(incoming, outgoing)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

async function open(upstream: Upstream) {
  const boundary = await openBoundary({ closeGraceMs: 600_000 })
  onTestFinished(() => boundary.close())
  const exchanges: ExchangeFacts[] = []
  const session = boundary.open({
    responder: createUpstreamResponder(upstream),
    prices: { m: { input: 1_000, output: 1_000, cacheRead: 0, cacheWrite: 0 } },
    onExchange: (facts) => exchanges.push(facts),
  })
  return { session, exchanges }
}

const answering: RequestListener = (_, response) => {
  const usage = { input: 10, output: 20, cacheRead: 0, cacheWrite: 0 }
  const { status, headers, chunks } = anthropic.encode(
    { blocks: [{ kind: 'text', text: 'Good morning.' }], stop: 'end', usage },
    anthropic.readCall(JSON.parse(request), { kind: 'generate' }),
    { id: 'x', created: 0 },
  )
  response.writeHead(status, { ...headers, 'x-ratelimit-left': '7' })
  for (const chunk of chunks) response.write(chunk)
  response.end()
}

describe('createUpstreamResponder', () => {
  test('forwards the request unchanged, with the real key in place of the token', async () => {
    const { url, heard } = await provider(answering)
    const { session, exchanges } = await open(
      upstreamFrom({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: realKey }),
    )
    const response = await fetch(`${session.endpoint.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: {
        'x-api-key': session.endpoint.key,
        'anthropic-beta': 'one,two',
        'anthropic-version': '2023-06-01',
        'user-agent': 'agent/1',
        'content-type': 'application/json',
      },
      body: request,
    })
    expect(response.headers.get('x-ratelimit-left')).toBe('7')
    expect(await response.text()).toContain('Good')
    expect(heard).toMatchObject([
      {
        url: '/v1/messages?beta=true',
        body: request,
        headers: {
          'x-api-key': realKey,
          'anthropic-beta': 'one,two',
          'anthropic-version': '2023-06-01',
          'user-agent': 'agent/1',
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          host: new URL(url).host,
        },
      },
    ])
    expect(JSON.stringify(heard)).not.toContain(session.endpoint.key)
    await session.close()
    expect(exchanges).toMatchObject([{ by: 'upstream', tokens: { input: 10, output: 20 }, costUsd: 0.03 }])
    expect(JSON.stringify(exchanges)).not.toContain(realKey)
  })

  test.each([
    ['/v1/chat/completions', '', '/chat/completions'],
    ['/v1/responses', '/v1/', '/v1/responses'],
    ['/v1/models', '/v1', '/v1/models'],
  ])('%s goes to OpenAI under the base URL that its clients use', async (path, base, arrived) => {
    const { url, heard } = await provider((_, response) => response.end('{}'))
    const { session } = await open(upstreamFrom({ OPENAI_BASE_URL: url + base, OPENAI_API_KEY: realKey }))
    const method = path.endsWith('models') ? 'GET' : 'POST'
    const body = method === 'GET' ? {} : { body: request }
    await fetch(session.endpoint.url + path, { method, ...body })
    expect(heard).toMatchObject([{ url: arrived, headers: { authorization: `Bearer ${realKey}` } }])
  })

  test("Gemini's key goes into its header, wherever the token was", async () => {
    const { url, heard } = await provider((_, response) => response.end('{}'))
    const { session } = await open(upstreamFrom({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: realKey }))
    const { origin } = new URL(session.endpoint.url)
    const path = `/v1beta/models/m:streamGenerateContent?alt=sse&key=${session.endpoint.key}`
    await fetch(origin + path, { method: 'POST', body: '{"contents":[]}' })
    expect(heard).toMatchObject([
      { url: '/v1beta/models/m:streamGenerateContent?alt=sse', headers: { 'x-goog-api-key': realKey } },
    ])
  })

  test("without a configured key the agent's own login is forwarded", async () => {
    const { url, heard } = await provider(answering)
    const { session } = await open(upstreamFrom({ ANTHROPIC_BASE_URL: url }))
    const headers = { authorization: 'Bearer login', 'x-api-key': session.endpoint.key }
    await fetch(`${session.endpoint.url}/v1/messages`, { method: 'POST', headers, body: request })
    expect(heard[0]?.headers.authorization).toBe('Bearer login')
    expect(heard[0]?.headers['x-api-key']).toBeUndefined()
  })

  test("with a configured key the agent's own key is not forwarded", async () => {
    const { url, heard } = await provider(answering)
    const { session } = await open(upstreamFrom({ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: realKey }))
    const headers = { authorization: 'Bearer login', 'x-api-key': 'own' }
    await fetch(`${session.endpoint.url}/v1/messages?key=own`, { method: 'POST', headers, body: request })
    expect(heard[0]?.headers.authorization).toBe(`Bearer ${realKey}`)
    expect(heard[0]?.headers['x-api-key']).toBeUndefined()
    expect(heard[0]?.url).toBe('/v1/messages')
  })

  test("a provider's error is forwarded unchanged and costs nothing", async () => {
    const { url } = await provider((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"type":"error","error":{"type":"authentication_error","message":"revoked"}}')
    })
    const { session, exchanges } = await open(
      upstreamFrom({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: realKey }),
    )
    const response = await fetch(`${session.endpoint.url}/v1/messages`, { method: 'POST', body: request })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { message: 'revoked' } })
    await session.close()
    expect(exchanges).toMatchObject([{ status: 401, costUsd: null }])
    expect(session.report()).toMatchObject({ costUsd: 0, problem: null })
  })

  test('a provider that cannot be reached is a 502 without a key in it', async () => {
    const { session } = await open(
      upstreamFrom({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', ANTHROPIC_API_KEY: realKey }),
    )
    const response = await fetch(`${session.endpoint.url}/v1/messages`, { method: 'POST', body: request })
    expect(response.status).toBe(502)
    const text = await response.text()
    expect(text).toContain('127.0.0.1:1 cannot be reached')
    expect(text).not.toContain(realKey)
  })

  test('a stream that the provider cuts is cut for the agent', async () => {
    const { url } = await provider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"ping"}\n\n')
      setTimeout(() => response.destroy(), 10)
    })
    const { session } = await open(upstreamFrom({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: realKey }))
    const response = await fetch(`${session.endpoint.url}/v1/messages`, { method: 'POST', body: request })
    await expect(response.text()).rejects.toThrow()
  })

  test('the request to the provider is aborted when the agent disconnects', async () => {
    const left = Promise.withResolvers<void>()
    const { url } = await provider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"ping"}\n\n')
      response.once('close', left.resolve)
    })
    const { session } = await open(upstreamFrom({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: realKey }))
    const stop = new AbortController()
    const init = { method: 'POST', body: request, signal: stop.signal }
    await fetch(`${session.endpoint.url}/v1/messages`, init)
    stop.abort()
    await left.promise
  })
})

describe('upstreamFrom', () => {
  test('has the public addresses, and no key unless one is given', () => {
    const upstream = upstreamFrom({ ANTHROPIC_API_KEY: ' ' })
    expect(upstream).toEqual({
      anthropic: { baseUrl: 'https://api.anthropic.com', auth: null },
      openai: { baseUrl: 'https://api.openai.com/v1', auth: null },
      google: { baseUrl: 'https://generativelanguage.googleapis.com', auth: null },
    })
    expect(hasKey(upstream)).toBe(false)
    expect(hasKey(upstreamFrom({ GOOGLE_API_KEY: 'k' }))).toBe(true)
  })

  test('an API key has precedence over a token', () => {
    const env = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_AUTH_TOKEN: 'token' }
    expect(upstreamFrom(env).anthropic.auth).toEqual({ 'x-api-key': 'key' })
  })
})
