import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type LoopbackHandler, type LoopbackOptions, openLoopbackServer } from './loopback-server.ts'

async function serve(handle: LoopbackHandler, more: Partial<LoopbackOptions> = {}) {
  const server = await openLoopbackServer({ handle, ...more })
  onTestFinished(() => server.close())
  return { server, url: `http://127.0.0.1:${server.port}` }
}

test('passes on the whole request and sends the reply in pieces', async () => {
  const { url } = await serve(async (request, reply) => {
    const body = await request.readBody()
    reply.begin(201, { 'x-said': `${request.method} ${request.path} ${request.headers['x-word']}` })
    await reply.write('you said ')
    await reply.write(body ?? '')
    await reply.end()
  })
  const response = await fetch(`${url}/a/b?c=d`, {
    method: 'POST',
    body: 'größe',
    headers: { 'X-Word': 'hey' },
  })
  expect(response.status).toBe(201)
  expect(response.headers.get('x-said')).toBe('POST /a/b?c=d hey')
  expect(await response.text()).toBe('you said größe')
})

test('cannot be reached by another address of the machine', async () => {
  const { server } = await serve(async (_, reply) => reply.end())
  const socket = connect(server.port, '127.0.0.2')
  const error = await new Promise<NodeJS.ErrnoException>((done) => socket.once('error', done))
  expect(error.code).toMatch(/ECONNREFUSED|EADDRNOTAVAIL/)
})

test.each([
  ['of a known length', () => 'x'.repeat(101)],
  ['of an unknown length', () => new Blob(['x'.repeat(60), 'y'.repeat(60)]).stream()],
])('a body %s that is too large is refused with a response', async (_, body) => {
  const { url } = await serve(
    async (request, reply) => {
      reply.begin((await request.readBody()) === null ? 413 : 200, {})
      await reply.end()
    },
    { maxBodyBytes: 100 },
  )
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body: body(), duplex: 'half' }
  expect((await fetch(url, init)).status).toBe(413)
  expect((await fetch(url, { method: 'POST', body: 'x'.repeat(100) })).status).toBe(200)
})

test('a large body is refused while it is still being sent', async () => {
  const { url } = await serve(
    async (request, reply) => {
      reply.begin((await request.readBody()) === null ? 413 : 200, {})
      await reply.end()
    },
    { maxBodyBytes: 100 },
  )
  const response = await fetch(url, { method: 'POST', body: new Uint8Array(3_000_000) })
  expect(response.status).toBe(413)
})

test('a client that disconnects aborts the signal, but not after the reply', async () => {
  const signals: AbortSignal[] = []
  const { url } = await serve(async (request, reply) => {
    signals.push(request.signal)
    reply.begin(200, {})
    reply.flush()
    if (request.path === '/whole') return reply.end()
    await new Promise((done) => request.signal.addEventListener('abort', done))
    // Neither fails nor waits without a client.
    await reply.write(new Uint8Array(5_000_000))
    await reply.end()
    reply.destroy()
  })
  await (await fetch(`${url}/whole`)).text()
  const stop = new AbortController()
  await fetch(`${url}/open`, { signal: stop.signal })
  stop.abort()
  while (signals[1]?.aborted !== true) await new Promise((done) => setTimeout(done, 5))
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true])
})

test('text written before a cut arrives, and the client sees the cut', async () => {
  const { url } = await serve(async (_, reply) => {
    reply.begin(200, {})
    await reply.write('half of i')
    reply.cut()
  })
  const response = await fetch(url)
  const reader = response.body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? '').toString()).toBe('half of i')
  await expect(reader?.read()).rejects.toThrow()
})

test('a port that is in use, forbidden or invalid is reported with a hint', async () => {
  const { server } = await serve(async (_, reply) => reply.end())
  const handle: LoopbackHandler = async () => {}
  await expect(openLoopbackServer({ port: server.port, handle })).rejects.toMatchObject({
    code: 'LOCKED',
    message: `port ${server.port} on 127.0.0.1 is already in use`,
    hint: expect.stringContaining('another port'),
  })
  await expect(openLoopbackServer({ port: 70_000, handle })).rejects.toMatchObject({ code: 'USAGE' })
})

test('closing ends idle and busy connections and frees the port', async () => {
  const { server, url } = await serve(async (_, reply) => {
    reply.begin(200, {})
    reply.flush()
  })
  const idle = connect(server.port, '127.0.0.1')
  const idleClosed = new Promise<void>((done) => idle.once('close', () => done()))
  await new Promise<void>((done) => idle.once('connect', done))
  const busy = await fetch(url)
  await server.close()
  await idleClosed
  await expect(busy.text()).rejects.toThrow()
  const again = await openLoopbackServer({ port: server.port, handle: async () => {} })
  await again.close()
})
