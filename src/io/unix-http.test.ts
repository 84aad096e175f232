import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryDirectory } from './temporary-directory.ts'
import { askOverUnixHttp, connectOverUnixHttp, streamOverUnixHttp } from './unix-http.ts'

async function serve(answer: RequestListener, grant?: (socket: Duplex) => void): Promise<string> {
  const scratch = temporaryDirectory('gantry-unix-http-')
  const socketPath = join(scratch.path, 's')
  const server = createServer(answer)
  if (grant !== undefined) server.on('upgrade', (_, socket) => grant(socket))
  await new Promise<void>((ready) => server.listen(socketPath, ready))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
    scratch[Symbol.dispose]()
  })
  return socketPath
}

test('a request carries its JSON and its answer comes back whole', async () => {
  const socketPath = await serve((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      outgoing.statusCode = 201
      outgoing.end(`${incoming.method} ${incoming.url} ${Buffer.concat(chunks).toString()}`)
    })
  })
  expect(
    await askOverUnixHttp({
      socketPath,
      method: 'POST',
      path: '/a?b=1',
      body: { c: 'é' },
      timeoutMs: 600_000,
    }),
  ).toEqual({ kind: 'answer', status: 201, body: 'POST /a?b=1 {"c":"é"}' })
})

test('a missing listener is reported with the system error code', async () => {
  using scratch = temporaryDirectory('gantry-unix-http-')
  const answer = await askOverUnixHttp({
    socketPath: join(scratch.path, 'none'),
    method: 'GET',
    path: '/',
    timeoutMs: 600_000,
  })
  expect(answer).toMatchObject({ kind: 'unreachable', code: 'ENOENT' })
})

test('a stalled answer times out', async () => {
  const socketPath = await serve((_, outgoing) => {
    outgoing.write('half')
  })
  expect(await askOverUnixHttp({ socketPath, method: 'GET', path: '/', timeoutMs: 50 })).toMatchObject({
    kind: 'unreachable',
    code: 'TIMEOUT',
  })
})

test('an answer that is cut off is not taken for a whole one', async () => {
  const socketPath = await serve((_, outgoing) => {
    outgoing.flushHeaders()
    outgoing.socket?.end()
  })
  expect(await askOverUnixHttp({ socketPath, method: 'GET', path: '/', timeoutMs: 600_000 })).toMatchObject({
    kind: 'unreachable',
    code: 'ECONNRESET',
  })
})

test('an abort ends a request that has no answer yet, and a stream that is under way', async () => {
  const socketPath = await serve((incoming, outgoing) => {
    if (incoming.url === '/stream') outgoing.write('first')
  })
  const stop = new AbortController()
  const silent = askOverUnixHttp({
    socketPath,
    method: 'GET',
    path: '/silent',
    timeoutMs: 60_000,
    signal: stop.signal,
  })
  const seen: string[] = []
  const stream = await streamOverUnixHttp(
    { socketPath, method: 'GET', path: '/stream', timeoutMs: 60_000, signal: stop.signal },
    (chunk) => {
      seen.push(chunk.toString())
      stop.abort()
    },
  )
  expect(await silent).toEqual({ kind: 'aborted' })
  if (stream.kind === 'stream') await stream.ended
  expect(seen).toEqual(['first'])
})

test('a connection carries bytes in both directions, and an abort ends it', async () => {
  const socketPath = await serve(
    () => {},
    (socket) => {
      socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nearly ')
      socket.on('error', () => {}).on('data', (bytes) => socket.end(bytes))
    },
  )
  const connect = (signal?: AbortSignal) =>
    connectOverUnixHttp({
      ...{ socketPath, method: 'POST', path: '/', timeoutMs: 600_000 },
      ...(signal && { signal }),
    })
  const whole = await connect()
  whole?.write('late')
  expect(whole && (await text(whole))).toBe('early late')
  const stop = new AbortController()
  const cut = await connect(stop.signal)
  stop.abort()
  expect(cut?.destroyed).toBe(true)
})

test('a connection that the other side never grants, or refuses, is none', async () => {
  const socketPath = await serve((incoming, outgoing) => {
    if (incoming.url === '/refused') outgoing.writeHead(404).end()
  })
  const connect = (path: string, timeoutMs: number) =>
    connectOverUnixHttp({ socketPath, method: 'POST', path, timeoutMs })
  expect(await connect('/refused', 600_000)).toBeNull()
  expect(await connect('/silent', 50)).toBeNull()
})

test('a stream is not cut by the time its status may take', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const finish = Promise.withResolvers<void>()
  const socketPath = await serve((_, outgoing) => {
    outgoing.write('a')
    void finish.promise.then(() => outgoing.end('b'))
  })
  const seen: string[] = []
  const stream = await streamOverUnixHttp({ socketPath, method: 'GET', path: '/', timeoutMs: 60 }, (chunk) =>
    seen.push(chunk.toString()),
  )
  vi.advanceTimersByTime(120)
  finish.resolve()
  if (stream.kind === 'stream') await stream.ended
  expect([stream.kind, seen.join('')]).toEqual(['stream', 'ab'])
})
