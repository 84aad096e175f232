import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { labToken, openServerLab, type ServerLab } from '../../test/support/server-lab.ts'
import { openSseClient, type SseClient, type SseRequest } from '../../test/support/sse-client.ts'
import { fanOutLimits } from './feed/fan-out.ts'
import { type GantryServer, openServer, type ServerOptions } from './open-server.ts'

function optionsOf({ root, queue, store, submitter, log, repository }: ServerLab): ServerOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    token: labToken,
    allowHosts: ['gantry.example'],
    repositories: [repository],
    queue,
    store,
    guardHome: root,
    submitter,
    log,
  }
}

async function serve(
  more: Partial<ServerOptions> = {},
): Promise<{ readonly lab: ServerLab; readonly server: GantryServer }> {
  const lab = openServerLab()
  const server = await openServer({ ...optionsOf(lab), ...more })
  onTestFinished(() => server.close())
  return { lab, server }
}

async function follow(url: string, request?: SseRequest): Promise<SseClient> {
  const client = await openSseClient(url, request)
  onTestFinished(() => client.stop())
  return client
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((done) => setTimeout(done, 5))
}

/** Sends raw bytes and returns everything the server sends. */
function raw({ port }: GantryServer, bytes: string | readonly string[]): Promise<string> {
  return new Promise((done) => {
    let text = ''
    const socket: Socket = connect(port, '127.0.0.1', () => {
      for (const part of [bytes].flat()) socket.write(part)
    })
    const finish = (): void => {
      clearTimeout(timer)
      socket.destroy()
      done(text)
    }
    // A server that keeps the connection open has sent everything by then.
    const timer = setTimeout(finish, 1_000)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', finish)
    socket.on('error', finish)
  })
}

const auth = `Authorization: Bearer ${labToken}\r\n`

test('answers over a real connection only with the right host and token', async () => {
  const { server, lab } = await serve()
  const host = `Host: 127.0.0.1:${server.port}\r\n`
  const ask = (lines: string) => raw(server, `GET /v1/tasks HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`)
  expect(await ask(`${host}${auth}`)).toMatch(/^HTTP\/1.1 200 /)
  expect(await ask(`Host: gantry.example\r\n${auth}`)).toMatch(/^HTTP\/1.1 200 /)
  expect(await ask(`Host: localhost:${server.port}\r\n${auth}`)).toMatch(/^HTTP\/1.1 200 /)
  expect(await ask(host)).toMatch(/^HTTP\/1.1 401 /)
  expect(await ask(`Host: evil.example:${server.port}\r\n${auth}`)).toMatch(/^HTTP\/1.1 421 /)
  expect(await ask(`Host: a b\r\n${auth}`)).toMatch(/^HTTP\/1.1 4/)
  expect(await ask(auth)).toMatch(/^HTTP\/1.1 400 /)
  expect(await ask(`${host}${auth}Origin: http://evil.example\r\n`)).toMatch(/^HTTP\/1.1 403 /)
  expect(
    await raw(server, `GET http://evil.example/v1/tasks HTTP/1.1\r\nHost: evil.example\r\n${auth}\r\n`),
  ).toMatch(/^HTTP\/1.1 421 /)
  const streams = await Promise.all([
    follow(`${server.url}/v1/events`, { token: 'wrong' }),
    follow(`${server.url}/v1/events?token=${labToken}`, { token: '' }),
  ])
  expect(streams.map(({ status }) => status)).toEqual([401, 401])
  expect(server.feed.clients).toBe(0)
  expect(lab.logged.join('')).not.toContain(labToken)
})

test('a malformed request neither stops the server nor gets an invalid answer', async () => {
  const { server, lab } = await serve()
  const head = `Host: 127.0.0.1:${server.port}\r\n${auth}`
  const post = `POST /v1/tasks HTTP/1.1\r\n${head}Content-Type: application/json\r\n`
  const corpus: readonly (string | readonly string[])[] = [
    'nonsense\r\n\r\n',
    '\0\0\0\0\r\n\r\n',
    '\u0016\u0003\u0001\u0002\0\u0001\0\u0001',
    `GET / HTTP/9.9\r\n${head}\r\n`,
    `GET /v1/tasks HTTP/1.1\r\n${head}X-Big: ${'x'.repeat(20_000)}\r\n\r\n`,
    `GET /v1/tasks HTTP/1.1\r\n${head}${'X: y\r\n'.repeat(5_000)}\r\n`,
    `GET /${'a'.repeat(30_000)} HTTP/1.1\r\n${head}\r\n`,
    `GET /v1/tasks/../../../etc/passwd HTTP/1.1\r\n${head}\r\n`,
    `GET /v1/tasks\\..\\x HTTP/1.1\r\n${head}\r\n`,
    `GET /v1/tasks/%00 HTTP/1.1\r\n${head}\r\n`,
    `GET //evil.example/v1/tasks HTTP/1.1\r\n${head}\r\n`,
    `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/tasks HTTP/1.1\r\n${head}\r\n`,
    `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\nZZZ\r\n{}\r\n0\r\n\r\n`,
    `${post}Content-Length: -1\r\n\r\n`,
    `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    `${post}Content-Length: 99999999\r\n\r\n{`,
    `CONNECT evil.example:443 HTTP/1.1\r\n${head}\r\n`,
    `GET /v1/events HTTP/1.1\r\n${head}Upgrade: websocket\r\nConnection: Upgrade\r\nLast-Event-ID: x\r\n\r\n`,
    `GET /v1/tasks HTTP/1.1\r\n${head}Expect: 200-ok\r\n\r\n`,
    `TRACE /v1/tasks HTTP/1.1\r\n${head}\r\n`,
    [
      `${post}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array.from({ length: 40 }, () => `4000\r\n${'x'.repeat(0x4000)}\r\n`),
    ],
  ]
  const answers = await Promise.all(corpus.map((bytes) => raw(server, bytes)))
  for (const [at, answer] of answers.entries()) {
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
    // No answer or exactly one error: no second request was smuggled in.
    expect(statuses.length, String(corpus[at]).slice(0, 80)).toBeLessThanOrEqual(1)
    expect(
      statuses.every((status) => status >= 400 && status < 500),
      `${String(corpus[at]).slice(0, 80)}: ${answer.slice(0, 200)}`,
    ).toBe(true)
    expect(answer).not.toMatch(/node_modules|\.ts:\d|root:/)
  }
  expect(lab.queue.list()).toEqual([])
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  expect(lab.logged.filter((line) => line.includes('server_error'))).toEqual([])
})

test('a body without a length is refused as soon as it is too long', async () => {
  const { server } = await serve()
  const init: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    duplex: 'half',
    headers: { authorization: `Bearer ${labToken}`, 'content-type': 'application/json' },
    body: new Blob(['{"description":"', 'x'.repeat(1_000_000), '"}']).stream(),
  }
  const response = await fetch(`${server.url}/v1/tasks`, init)
  expect(response.status).toBe(413)
  expect(await response.json()).toMatchObject({ error: { code: 'too_large' } })
})

test('clients that never read use little memory and delay no other during 5,000 events', async () => {
  const { lab, server } = await serve()
  const id = lab.submit()
  const stuck = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const socket = connect(server.port, '127.0.0.1')
      onTestFinished(() => void socket.destroy())
      socket.pause()
      socket.write(`GET /v1/events?level=detail HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n${auth}\r\n`)
      return socket
    }),
  )
  const readers = await Promise.all(
    Array.from({ length: 5 }, () => follow(`${server.url}/v1/events?level=detail`)),
  )
  await until(() => server.feed.clients === stuck.length + readers.length)
  const before = process.memoryUsage().rss
  const text = 'x'.repeat(2_000)
  const ids: number[] = []
  while (ids.length < 5_000) {
    for (let n = 0; n < 100; n += 1) ids.push(lab.queue.append(id, { kind: 'note', text }, 'detail'))
    await new Promise((done) => setImmediate(done))
  }
  await until(() => readers.every((reader) => reader.ids.length === ids.length))
  for (const reader of readers) expect(reader.ids).toEqual(ids)
  // Their buffers are full, with at most one write each. Without a limit it would be 10 MB each.
  expect(server.feed.clients).toBe(stuck.length + readers.length)
  expect(server.feed.pendingBytes).toBeGreaterThan(0)
  expect(server.feed.pendingBytes).toBeLessThanOrEqual(stuck.length * fanOutLimits.chunkBytes)
  expect(process.memoryUsage().rss - before).toBeLessThan(400e6)
  expect(server.feed.ringBytes).toBeLessThanOrEqual(fanOutLimits.ringBytes)
  const [late] = stuck
  let received = ''
  late?.on('data', (chunk) => {
    received += chunk.toString('latin1').replaceAll('x', '')
  })
  late?.resume()
  await until(() => received.includes(`id: ${ids.at(-1)}\nevent: note`))
  expect([...received.matchAll(/^id: (\d+)\nevent/gm)].map(([, found]) => Number(found))).toEqual(ids)
})

test('a client whose buffers were filled by small writes gets the rest when it reads again', async () => {
  const { lab, server } = await serve({ limits: { ...fanOutLimits, chunkBytes: 100, stallMs: 30_000 } })
  const id = lab.submit()
  const socket = connect(server.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.pause()
  socket.write(`GET /v1/events?level=detail HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n${auth}\r\n`)
  await until(() => server.feed.clients === 1)
  let last = 0
  while (server.feed.pendingBytes === 0) {
    last = lab.queue.append(id, { kind: 'note', text: 'x'.repeat(20_000) }, 'detail')
    await new Promise((done) => setImmediate(done))
  }
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1').replaceAll('x', '')
  })
  socket.resume()
  last = lab.queue.append(id, { kind: 'note', text: 'end' }, 'detail')
  await until(() => received.includes(`id: ${last}\nevent: note`) || socket.closed)
  expect(received).toContain(`id: ${last}\nevent: note`)
})

test('a client that reconnects again and again gets every event once and in order', async () => {
  const { lab, server } = await serve({
    limits: { ...fanOutLimits, ringBytes: 20_000, chunkBytes: 2_000, page: 20 },
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 6 }),
      fc.constantFrom('milestone' as const, 'detail' as const),
      async (cuts, level) => {
        const id = lab.submit()
        const start = `${lab.queue.lastEventId()}`
        const wanted: number[] = []
        const appending = (async () => {
          for (let n = 0; n < 300; n += 1) {
            const isMilestone = n % 2 === 0
            const fed = lab.queue.append(id, { kind: 'note', n }, isMilestone ? 'milestone' : 'detail')
            if (level === 'detail' || isMilestone) wanted.push(fed)
            if (n % 10 === 0) await new Promise((done) => setTimeout(done, 1))
          }
        })()
        const got: number[] = []
        let lastEventId = start
        for (const cut of cuts) {
          const limit = got.length + cut
          const client = await openSseClient(`${server.url}/v1/events?level=${level}&after=0`, {
            lastEventId,
            // The client has not read what arrives at the same moment.
            onEvent: (fed) => got.length < limit && got.push(fed),
          })
          if (cut > 0) await until(() => got.length >= limit || got.at(-1) === wanted.at(-1))
          client.stop()
          await client.closed
          lastEventId = `${got.at(-1) ?? start}`
        }
        await appending
        const last = await openSseClient(`${server.url}/v1/events?level=${level}`, {
          lastEventId,
          onEvent: (fed) => got.push(fed),
        })
        await until(() => got.length >= wanted.length)
        last.stop()
        expect(got).toEqual(wanted)
      },
    ),
    { numRuns: 25 },
  )
})

test('a client disconnected before its first event still knows its position', async () => {
  const { lab, server } = await serve()
  const id = lab.submit()
  const client = await follow(`${server.url}/v1/events`)
  await until(() => client.lastEventId() !== '')
  client.stop()
  await client.closed
  const missed = lab.queue.append(id, { kind: 'milestone' }, 'milestone')
  const again = await follow(`${server.url}/v1/events`, { lastEventId: client.lastEventId() })
  await until(() => again.ids.length > 0)
  expect(again.ids).toEqual([missed])
})

test('the stream of a task covers the whole task, and a reconnecting client gets 204', async () => {
  const { lab, server } = await serve()
  const id = lab.begin()
  lab.queue.append(id, { kind: 'note' }, 'detail')
  const client = await follow(`${server.url}/v1/tasks/${id}/events`)
  await until(() => client.ids.length === 1)
  lab.queue.append(id, { kind: 'task_ended', state: 'SUCCESS' }, 'milestone')
  await client.closed
  expect(client.kinds).toEqual(['milestone', 'task_ended'])
  lab.queue.end(id, { state: 'SUCCESS', summary: null, error_message: null })
  const again = await follow(`${server.url}/v1/tasks/${id}/events`, { lastEventId: client.lastEventId() })
  expect(again.status).toBe(204)
  const whole = await follow(`${server.url}/v1/tasks/${id}/events?level=detail`)
  await whole.closed
  expect(whole.kinds).toEqual(['milestone', 'note', 'task_ended'])
})

test('a stream pipelined behind another request is refused', async () => {
  const { server, lab } = await serve()
  lab.submit()
  const head = `Host: 127.0.0.1:${server.port}\r\n${auth}`
  const answer = await raw(
    server,
    `GET /v1/tasks HTTP/1.1\r\n${head}\r\nGET /v1/events?after=0 HTTP/1.1\r\n${head}\r\nGET /health HTTP/1.1\r\n${head}\r\n`,
  )
  const stream = answer.indexOf('text/event-stream')
  if (stream !== -1) expect(answer.slice(stream)).not.toContain('"status":"ok"')
  expect(server.feed.clients).toBeLessThanOrEqual(1)
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})

test('closing ends all streams at once, also of clients that do not read, and frees the port', async () => {
  const { server, lab } = await serve()
  const id = lab.submit()
  const client = await follow(`${server.url}/v1/events`)
  const stuck = connect(server.port, '127.0.0.1')
  stuck.on('error', () => {})
  stuck.pause()
  stuck.write(`GET /v1/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n${auth}\r\n`)
  await until(() => server.feed.clients === 2)
  for (let n = 0; n < 3_000; n += 1)
    lab.queue.append(id, { kind: 'milestone', text: 'x'.repeat(2_000) }, 'milestone')
  await until(() => client.ids.length === 3_000)
  await server.close()
  await client.closed
  stuck.destroy()
  const samePort = { ...optionsOf(lab), port: server.port }
  const again = await openServer(samePort)
  await expect(openServer(samePort)).rejects.toMatchObject({
    code: 'LOCKED',
    hint: expect.stringContaining('--port'),
  })
  await again.close()
})

test('an unfinished request is dropped, and so is a connection above the limit', async () => {
  const connections = { max: 2, headMs: 150, requestMs: 300, checkEveryMs: 50 }
  const { server } = await serve({ connections })
  const head = `POST /v1/tasks HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n${auth}`
  expect(await raw(server, head)).toMatch(/^HTTP\/1.1 408 /)
  const body = 'Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{'
  expect(await raw(server, `${head}${body}`)).toMatch(/^HTTP\/1.1 4|^$/)
  const streams = await Promise.all([1, 2].map(() => follow(`${server.url}/v1/events`)))
  expect(streams.map(({ status }) => status)).toEqual([200, 200])
  await expect(openSseClient(`${server.url}/v1/events`)).rejects.toThrow()
  streams[0]?.stop()
  await until(() => server.feed.clients === 1)
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})
