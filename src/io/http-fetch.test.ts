import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { httpFetch, type OutgoingRequest } from './http-fetch.ts'

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address() as AddressInfo
  return `http://127.0.0.1:${address.port}`
}

function ask(url: string, more: Partial<OutgoingRequest> = {}) {
  const signal = new AbortController().signal
  return httpFetch({ method: 'GET', url, headers: {}, firstByteTimeoutMs: 5_000, signal, ...more })
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('sends method, headers and body unchanged and asks for no compression', async () => {
  const url = await serve((request, response) => {
    const heard = [request.method, request.headers['x-a'], request.headers['accept-encoding']].join(' ')
    response.setHeader('x-heard', heard)
    request.pipe(response)
  })
  const body = Buffer.from('{"größe": 1}')
  const answer = await ask(url, { method: 'POST', headers: { 'x-a': 'b' }, body })
  if (answer.kind !== 'answer') throw new Error(answer.message)
  expect(answer.headers).toMatchObject({ 'x-heard': 'POST b identity' })
  expect(await textOf(answer.body)).toBe('{"größe": 1}')
})

test('a compressed body is decompressed, and its header is removed', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
    response.end(gzipSync('hello'))
  })
  const answer = await ask(url)
  if (answer.kind !== 'answer') throw new Error(answer.message)
  expect(Object.keys(answer.headers)).not.toContain('content-encoding')
  expect(Object.keys(answer.headers)).not.toContain('content-length')
  expect(await textOf(answer.body)).toBe('hello')
})

test('pieces arrive as sent, and a cut connection throws', async () => {
  const url = await serve((_, response) => {
    response.write('one')
    setTimeout(() => response.destroy(), 20)
  })
  const answer = await ask(url)
  if (answer.kind !== 'answer') throw new Error(answer.message)
  const pieces = answer.body[Symbol.asyncIterator]()
  expect(Buffer.from((await pieces.next()).value ?? '').toString()).toBe('one')
  await expect(pieces.next()).rejects.toThrow()
})

test('a redirect is returned and not followed, so a key stays with its host', async () => {
  let asked = 0
  const url = await serve((_, response) => {
    asked += 1
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  expect(await ask(url)).toMatchObject({ kind: 'answer', status: 302 })
  expect(asked).toBe(1)
})

test('a server that is silent for too long is unreachable', async () => {
  const url = await serve(() => {})
  expect(await ask(url, { firstByteTimeoutMs: 30 })).toEqual({
    kind: 'unreachable',
    message: `${new URL(url).host} cannot be reached: no answer within 30 ms`,
  })
})

test('the time limit is for the first byte only', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const finish = Promise.withResolvers<void>()
  const url = await serve((_, response) => {
    response.write('one ')
    void finish.promise.then(() => response.end('two'))
  })
  const answer = await ask(url, { firstByteTimeoutMs: 600 })
  if (answer.kind !== 'answer') throw new Error(answer.message)
  vi.advanceTimersByTime(900)
  finish.resolve()
  expect(await textOf(answer.body)).toBe('one two')
})

test('an aborted request ends, before and during the answer', async () => {
  const url = await serve((request, response) => {
    if (request.url !== '/silent') response.write('one')
  })
  const before = new AbortController()
  const waiting = ask(`${url}/silent`, { signal: before.signal })
  before.abort()
  expect(await waiting).toMatchObject({ kind: 'unreachable' })
  expect(await ask(url, { signal: AbortSignal.abort() })).toMatchObject({ kind: 'unreachable' })
  const middle = new AbortController()
  const answer = await ask(url, { signal: middle.signal })
  if (answer.kind !== 'answer') throw new Error(answer.message)
  const rest = textOf(answer.body)
  middle.abort()
  await expect(rest).rejects.toThrow()
})

test.each([
  ['a closed port', 'http://127.0.0.1:1/x?key=sk-secret', { authorization: 'Bearer sk-secret' }],
  ['an invalid address', 'no address sk-secret', {}],
  ['an address with a password', 'http://me:sk-secret@127.0.0.1:1/', {}],
  ['a key that no header can hold', 'http://127.0.0.1:1/', { 'x-api-key': 'sk-secret\nx' }],
])('%s is reported without the key', async (_, url, headers) => {
  const answer = await ask(url, { headers })
  expect(answer).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('cannot be reached') })
  expect(JSON.stringify(answer)).not.toContain('sk-secret')
})
