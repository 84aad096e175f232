import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { labApp, labToken, openServerLab } from '../../test/support/server-lab.ts'
import { GantryError } from '../core/error.ts'
import { writeFileAtomic } from '../io/files.ts'
import { digestSecret } from '../io/secret.ts'
import { ownHosts } from './check-access.ts'
import { createApp } from './create-app.ts'
import { handlers } from './handlers.ts'
import { pageFiles } from './page-files.ts'
import { pageSession, sessionProof } from './page-session.ts'
import { servedTasks } from './served-tasks.ts'

/** Shared, because creating one is slow and no test here changes it. */
const lab = openServerLab('json', afterAll)
const { ask } = labApp(lab)
beforeEach(() => {
  lab.logged.length = 0
})

const everywhere = [
  ['GET', '/v1/tasks'],
  ['POST', '/v1/tasks'],
  ['GET', '/v1/events'],
  ['GET', '/metrics'],
  ['GET', '/v1/metrics'],
  ['GET', '/openapi.json'],
  ['DELETE', '/v1/history'],
  ['GET', '/nothing'],
  ['OPTIONS', '/v1/tasks'],
] as const

test.each([
  ['none', ''],
  ['another', `Bearer ${labToken}x`],
  ['a shorter one', `Bearer ${labToken.slice(0, -1)}`],
  ['an empty one', 'Bearer '],
  ['the right one with another scheme', `Basic ${labToken}`],
  ['the right one without a scheme', labToken],
  ['the right one twice', `Bearer ${labToken} ${labToken}`],
])('with %s as token only /health answers', async (_, authorization) => {
  for (const [method, path] of everywhere) {
    const response = await ask(path, { method, headers: { authorization } })
    expect(response.status, path).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('Bearer')
    expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } })
  }
  expect((await ask('/health', { headers: { authorization } })).status).toBe(200)
  expect(lab.logged.join('')).not.toContain(labToken)
})

test('a cookie opens only the server on its host and port, also after it starts again', () => {
  const { clock } = lab.store
  const session = (host: string, port: number) => pageSession(labToken, () => ({ host, port }), clock)
  const [cookie = ''] = session('127.0.0.1', 7777).signIn({ token: labToken })?.split(';') ?? []
  expect(session('127.0.0.1', 7777).isSignedIn(cookie)).toBe(true)
  expect(session('127.0.0.1', 8888).isSignedIn(cookie.replace('7777', '8888'))).toBe(false)
  expect(session('0.0.0.0', 7777).isSignedIn(cookie)).toBe(false)
})

test('the code of another user of the machine is refused, and still works for the own one', () => {
  const sessionOf = (ownUser: number) =>
    pageSession(labToken, () => ({ host: '127.0.0.1', port: 7777 }), lab.store.clock, {
      userOf: (port) => (port < 5_000 ? port : null),
      ownUser,
    })
  const session = sessionOf(1000)
  const { code } = session.newCode()
  expect(session.signIn({ code }, 1001)).toBe(null)
  expect(session.signIn({ token: labToken }, 1001)).not.toBe(null)
  expect(session.signIn({ code }, 1000)).not.toBe(null)
  expect(session.signIn({ code }, 1000)).toBe(null)
  // Forwarded by a service, or by a tunnel of which nothing is known. A server of root does not know its user.
  for (const port of [0, 60_000, undefined])
    expect(session.signIn({ code: session.newCode().code }, port), String(port)).not.toBe(null)
  const ofRoot = sessionOf(0)
  expect(ofRoot.signIn({ code: ofRoot.newCode().code }, 1001)).not.toBe(null)
})

test('files of the page have strict headers, and only those named by their content are kept', () => {
  for (const name of ['index.html', 'icon.svg', 'assets/index-abc.js'])
    writeFileAtomic(join(lab.root, 'view', name), '')
  const files = pageFiles(join(lab.root, 'view'))
  for (const { headers } of files.values())
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringContaining("trusted-types 'none'"),
      'cross-origin-opener-policy': 'same-origin',
    })
  const kept = [...files].filter(([, { headers }]) => headers['cache-control'] !== 'no-store')
  expect(kept.map(([path]) => path)).toEqual(['/assets/index-abc.js'])
})

test('a server proves that it knows the token, for its own port only', async () => {
  const nonce = 'n'.repeat(32)
  const response = await ask(`/v1/session/proof?nonce=${nonce}`, { headers: { authorization: '' } })
  expect(await response.json()).toEqual({ proof: sessionProof(labToken, 7777, nonce) })
  for (const [token, port] of [
    [labToken, 7778],
    [`${labToken}x`, 7777],
  ] as const)
    expect(sessionProof(token, port, nonce)).not.toBe(sessionProof(labToken, 7777, nonce))
  expect((await ask('/v1/session/proof?nonce=short')).status).toBe(400)
})

test('a token in the URL is refused and not logged', async () => {
  const response = await ask(`/v1/tasks?token=${labToken}`, { headers: { authorization: '' } })
  expect(response.status).toBe(401)
  expect((await ask(`/v1/tasks?access_token=${labToken}`)).status).toBe(400)
  expect(lab.logged).toHaveLength(2)
  expect(lab.logged.join('')).not.toContain(labToken)
})

test.each(['evil.example', 'localhost.evil.example', 'localhost:81', ''])(
  'a request for the host "%s" is refused, also for /health',
  async (host) => {
    for (const path of ['/v1/tasks', '/health'])
      expect((await ask(path, { headers: { host } })).status).toBe(421)
  },
)

test.each([
  ['http://evil.example', 403],
  ['null', 403],
  ['http://localhost:81', 403],
  ['file://', 403],
  ['http://localhost', 200],
  ['https://localhost', 200],
])('a request from the origin %s gets %i and never a CORS header', async (origin, status) => {
  const response = await ask('/v1/tasks', { headers: { origin } })
  expect(response.status).toBe(status)
  expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})

test('own hosts are the address and localhost with the port, and allowed names', () => {
  const own = ownHosts({ host: '127.0.0.1', port: 7777 }, ['Gantry.example', 'proxy.example:8443'])
  for (const name of [
    '127.0.0.1:7777',
    'localhost:7777',
    '[::1]:7777',
    'gantry.example',
    'gantry.example:443',
    'proxy.example:8443',
  ])
    expect(own(name), name).toBe(true)
  for (const name of [
    '127.0.0.1',
    'localhost',
    'localhost:7778',
    'proxy.example',
    'x.gantry.example',
    'gantry.example:x',
    '',
  ])
    expect(own(name), name).toBe(false)
  const all = ownHosts({ host: '0.0.0.0', port: 80 }, [])
  expect(all('0.0.0.0')).toBe(true)
  expect(all('localhost')).toBe(false)
})

test('every response has headers against pages, frames and caches', async () => {
  for (const path of ['/health', '/v1/tasks', '/nothing', '/metrics']) {
    const { headers } = await ask(path)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  }
})

test.each([
  ['no type', undefined, '{}', 415],
  ['a form', 'application/x-www-form-urlencoded', 'a=b', 415],
  ['plain text', 'text/plain', '{}', 415],
  ['another charset', 'application/json; charset=utf-16', '{}', 415],
  ['half a document', 'application/json', '{"description":', 400],
  ['invalid UTF-8', 'application/json', new Uint8Array([0x22, 0xff, 0x22]), 400],
  ['nothing', 'application/json', '', 400],
  ['null', 'application/json', 'null', 400],
  ['a list', 'application/json', '[]', 400],
  ['deep nesting', 'application/json', '['.repeat(50_000), 400],
  ['a key for the prototype', 'application/json', '{"__proto__":{"description":"x"},"repository":"/"}', 400],
  ['a megabyte of text', 'application/json', JSON.stringify({ description: 'x'.repeat(1_000_000) }), 413],
])('a body of %s is refused', async (_, type, body, status) => {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
  const response = await ask('/v1/tasks', { method: 'POST', body, headers })
  // fetch sends text/plain for a string without a type.
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } })
  expect(lab.queue.list()).toEqual([])
})

test('a compressed body is refused', async () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  expect((await ask('/v1/tasks', { method: 'POST', body: '{}', headers })).status).toBe(415)
})

test.each([
  '/v1/tasks/..%2f..%2fetc%2fpasswd',
  '/v1/tasks/task_20260101_000000_aaaaaa%00',
  '/v1/tasks/task_20260101_000000_AAAAAA',
  "/v1/tasks/task_20260101_000000_aaaaa'",
  '/v1/tasks/%2e%2e',
  `/v1/tasks/${'a'.repeat(5_000)}`,
  '/v1/tasks/%ff',
])('the id in %s is refused', async (path) => {
  const { status } = await ask(`${path}/diff`)
  expect([400, 404]).toContain(status)
})

test('an unsupported method gets the list of allowed ones', async () => {
  const response = await ask('/v1/tasks', { method: 'PUT' })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('POST, GET')
})

test('HEAD gets no body, also for a stream', async () => {
  for (const path of ['/health', '/v1/events']) {
    const response = await ask(path, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  }
})

test('a bug is reported without its stack, and a machine error with its hint', async () => {
  const { queue, store, repository, log } = lab
  const failing = (error: Error) =>
    createApp({
      access: { token: digestSecret(labToken), isOwnHost: () => true, isSignedIn: () => false },
      handlers: {
        ...handlers({
          queue,
          store,
          submitter: lab.submitter,
          session: pageSession(labToken, () => ({ host: 'x', port: 1 }), store.clock),
          runs: { store, project: null },
          guardHome: lab.root,
          tasks: servedTasks(queue, [repository]),
        }),
        health: () => {
          throw error
        },
      },
      log,
      page: new Map(),
      stream: () => {},
    }).request('/health', { headers: { host: 'x' } })
  const bug = await failing(new TypeError(`cannot read ${labToken}`))
  expect(bug.status).toBe(500)
  expect(await bug.text()).not.toMatch(/cannot read|at .*\.ts/)
  expect(lab.logged.join('')).toContain('TypeError')
  expect(lab.logged.join('')).not.toContain(labToken)
  const full = new GantryError('NO_SPACE', 'the disk is full', { hint: 'Free some.' })
  lab.logged.length = 0
  await failing(full)
  const fault = await failing(full)
  // Once, however often it is asked, and without a stack.
  expect(lab.logged.filter((line) => line.includes('server_error'))).toEqual([
    expect.stringContaining('"extra":{"stack":"GantryError: the disk is full"}'),
  ])
  expect(fault.status).toBe(507)
  expect(await fault.json()).toEqual({
    error: { code: 'no_space', message: 'the disk is full', hint: 'Free some.' },
  })
})

test('the log has a line for every request, readable or as JSON', async () => {
  const [json, text] = [lab, openServerLab('text')]
  await labApp(json).ask('/v1/tasks?limit=5')
  await labApp(text).ask('/v1/tasks?limit=5')
  expect(JSON.parse(json.logged.join(''))).toMatchObject({
    timestamp: '1970-01-01T00:00:00.000Z',
    level: 'info',
    component: 'server',
    event_type: 'http_request',
    extra: { method: 'GET', path: '/v1/tasks?limit=5', status: 200 },
  })
  expect(text.logged.join('')).toMatch(/^00:00:00 GET \/v1\/tasks\?limit=5 200 [\d.]+ ms\n$/)
})
