import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Boundary, ExchangeFacts, Reply, Turn } from './contract.ts'
import { openBoundary } from './open-boundary.ts'

let boundary: Boundary
beforeEach(async () => {
  // On a busy machine the end of a call may take longer than the usual grace period.
  boundary = await openBoundary({ closeGraceMs: 600_000 })
})
afterEach(() => boundary.close())

const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }
const request = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })

function turn(text: string, more: Partial<Turn> = {}): Reply {
  return { kind: 'turn', turn: { blocks: [{ kind: 'text', text }], stop: 'end', usage, ...more } }
}

function open(answer: (signal: AbortSignal) => Reply | Promise<Reply>) {
  const exchanges: ExchangeFacts[] = []
  const session = boundary.open({
    responder: { name: 'test', answer: async ({ signal }) => answer(signal) },
    onExchange: (facts) => exchanges.push(facts),
  })
  return { session, exchanges }
}

function post(url: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    body: request,
    ...(signal !== undefined && { signal }),
  })
}

/** A client that sends its request and reads only on demand. */
async function rawPost(url: string): Promise<Socket> {
  const { port, pathname } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  await new Promise<void>((done) => socket.once('connect', done))
  socket.write(
    `POST ${pathname}/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: ${request.length}\r\n\r\n${request}`,
  )
  return socket
}

test('200 concurrent streams arrive complete, each with its own text', async () => {
  let number = 0
  const { session } = open(() => turn(`answer ${number++} of many`, { delayMs: 30 }))
  const bodies = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const response = await post(session.endpoint.url)
      return { status: response.status, text: await response.text() }
    }),
  )
  expect(bodies.filter(({ status }) => status !== 200)).toEqual([])
  expect(bodies.filter(({ text }) => !text.includes('message_stop'))).toEqual([])
  expect(new Set(bodies.map(({ text }) => /msg_\w+/.exec(text)?.[0])).size).toBe(200)
  await session.close()
  expect(session.report()).toMatchObject({ exchanges: 200, usage: [{ calls: 200, tokens: { output: 400 } }] })
})

test('a client that disconnects in the middle is noticed, and the next one is served', async () => {
  let noticed = false
  const { session, exchanges } = open((signal) => {
    signal.addEventListener('abort', () => {
      noticed = true
    })
    return turn('a sentence of some words', { chunkDelayMs: 10 })
  })
  const stop = new AbortController()
  const response = await post(session.endpoint.url, stop.signal)
  await response.body?.getReader().read()
  stop.abort()
  await until(() => exchanges.length === 1)
  expect(noticed).toBe(true)
  expect((await post(session.endpoint.url)).status).toBe(200)
})

test('a client that disconnects before the answer is not waited for, nor is its responder', async () => {
  const stop = new AbortController()
  const { session, exchanges } = open(() => {
    setTimeout(() => stop.abort(), 5)
    return new Promise<Reply>(() => {})
  })
  await expect(post(session.endpoint.url, stop.signal)).rejects.toThrow()
  await session.close()
  expect(exchanges).toMatchObject([{ status: 499, tokens: null, costUsd: null }])
})

test('a client that disconnects in the middle of its request leaves nothing behind', async () => {
  const { session, exchanges } = open(() => turn('x'))
  const { port, pathname } = new URL(session.endpoint.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`POST ${pathname}/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"mod`)
  await new Promise((done) => setTimeout(done, 20))
  socket.destroy()
  await session.close()
  expect(exchanges).toEqual([])
})

test('closing a session lets the running call finish', async () => {
  const { session } = open(() => turn('a sentence of some words', { chunkDelayMs: 5 }))
  const response = await post(session.endpoint.url)
  const [text] = await Promise.all([response.text(), session.close()])
  expect(text).toContain('message_stop')
  expect(session.report().exchanges).toBe(1)
  expect((await post(session.endpoint.url)).status).toBe(401)
})

test('closing a session ends a call that would not end', async () => {
  await beImpatient()
  const { session, exchanges } = open(() => ({
    kind: 'verbatim',
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: (async function* () {
      yield 'data: {}\n\n'
      await new Promise(() => {})
    })(),
  }))
  const response = await post(session.endpoint.url)
  const [read] = await Promise.all([response.text().catch(() => 'cut'), session.close()])
  expect(read).toBe('cut')
  expect(exchanges).toHaveLength(1)
})

test('closing a session ends a call whose agent does not read', async () => {
  await beImpatient()
  const { session, exchanges } = open(() => ({
    kind: 'verbatim',
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: (async function* () {
      for (;;) yield new Uint8Array(1_000_000)
    })(),
  }))
  const socket = await rawPost(session.endpoint.url)
  await new Promise<void>((done) => socket.once('readable', done))
  socket.on('error', () => {})
  await session.close()
  expect(exchanges).toHaveLength(1)
  socket.destroy()
})

test('closing the boundary ends every connection at once, idle or busy', async () => {
  const asked = Promise.withResolvers<void>()
  const { session } = open(() => {
    asked.resolve()
    return new Promise<Reply>(() => {})
  })
  const idle = connect(boundary.port, '127.0.0.1')
  const idleClosed = new Promise<void>((done) => idle.once('close', () => done()))
  const busy = post(session.endpoint.url)
  await asked.promise
  const [answer] = await Promise.all([busy.catch(() => 'cut'), boundary.close(), idleClosed])
  expect(answer).toBe('cut')
  await expect(post(session.endpoint.url)).rejects.toThrow()
})

test('a slow reader slows down its source', async () => {
  const piece = new Uint8Array(1_000_000)
  let produced = 0
  const { session, exchanges } = open(() => ({
    kind: 'verbatim',
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: (async function* () {
      for (; produced < 60; produced += 1) yield piece
    })(),
  }))
  const socket = await rawPost(session.endpoint.url)
  socket.pause()
  let before = -1
  await until(() => {
    const still = produced > 0 && produced === before
    before = produced
    return still
  })
  expect(produced).toBeLessThan(30)
  let received = 0
  socket.on('data', (chunk) => {
    received += chunk.length
  })
  socket.resume()
  await until(() => exchanges.length === 1)
  await until(() => received > 60_000_000)
  expect(produced).toBe(60)
  socket.destroy()
})

test('invalid bytes get a 400 and affect no other client', async () => {
  const { session } = open(() => turn('x'))
  const socket = connect(boundary.port, '127.0.0.1')
  socket.write('\u0016\u0003\u0001 not http at all\r\n\r\n')
  const answer = await new Promise<string>((done) => socket.once('data', (data) => done(String(data))))
  expect(answer).toMatch(/^HTTP\/1.1 400/)
  expect((await post(session.endpoint.url)).status).toBe(200)
})

test('several requests share one connection', async () => {
  const { session } = open(() => turn('x'))
  const socket = await rawPost(session.endpoint.url)
  let text = ''
  socket.on('data', (chunk) => {
    text += String(chunk)
  })
  const { pathname } = new URL(session.endpoint.url)
  await until(() => text.includes('\r\n0\r\n\r\n'))
  socket.write(`GET ${pathname}/v1/models HTTP/1.1\r\nhost: x\r\n\r\n`)
  await until(() => text.includes('"list"'))
  socket.destroy()
})

/** Cuts a call that is under way when its session closes. */
async function beImpatient(): Promise<void> {
  await boundary.close()
  boundary = await openBoundary({ closeGraceMs: 50 })
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((done) => setTimeout(done, 25))
}
