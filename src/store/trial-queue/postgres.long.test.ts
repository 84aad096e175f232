import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect } from 'vitest'
import { needs } from '../../../test/support/needs.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../../test/support/postgres-server.ts'
import type { GantryError } from '../../core/error.ts'
import { openPostgres } from '../../io/sql.ts'
import { openOn, openTrialQueue } from './open-trial-queue.ts'
import { oneByOne, queueConformance } from './queue.conformance.ts'

let server: PostgresServer

if (hasPostgres || process.env.CI === 'true') {
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())
  queueConformance('PostgreSQL', async () => {
    const url = await server.database()
    const sql = await openPostgres(url)
    const [queue, other] = await Promise.all([
      openTrialQueue(url),
      openOn(await openPostgres(url), 'postgres'),
    ])
    return {
      queue,
      other,
      sql,
      age: async (ms) => {
        await sql.query(
          `UPDATE gantry_boss.job SET heartbeat_on = heartbeat_on - interval '${ms} milliseconds'`,
        )
        await sql.query('UPDATE gantry_boss.queue SET monitor_on = NULL, monitor_claim_on = NULL')
      },
      close: async () => {
        for (const each of [queue, other, sql]) await each.close()
      },
    }
  })
}

const withServer = needs('PostgreSQL', hasPostgres)

withServer('a database that does not exist and a role that does not exist are named', async () => {
  const url = new URL(await server.database())
  const missing = new URL(url)
  missing.pathname = '/nothing'
  await expect(openTrialQueue(missing.href)).rejects.toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
    message: expect.stringContaining('has no such database'),
  })
  url.username = 'stranger'
  await expect(openTrialQueue(url.href)).rejects.toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
    message: expect.stringContaining('refused to authenticate'),
  })
})

withServer('a wrong password, and TLS that one side refuses, are named, and nothing is made', async () => {
  // The rules of a server that others use stay as they are.
  if (server.process() === null) return
  const url = new URL(await server.database())
  const owner = await openPostgres(url.href)
  const [{ hba_file: file } = {}] = await owner.query('SHOW hba_file')
  const before = readFileSync(String(file), 'utf8')
  const rules = `host all locked 127.0.0.1/32 scram-sha-256\nhostssl all tls_only 127.0.0.1/32 trust\nhost all tls_only 127.0.0.1/32 reject\n`
  await owner.query("CREATE ROLE locked LOGIN PASSWORD 'right'; CREATE ROLE tls_only LOGIN")
  writeFileSync(String(file), rules + before)
  try {
    await owner.query('SELECT pg_reload_conf()')
    const as = (user: string, password: string, query = ''): string => {
      const own = new URL(url)
      Object.assign(own, { username: user, password, search: query })
      return own.href
    }
    const problem = (address: string): Promise<unknown> =>
      openTrialQueue(address).then(
        (queue) => queue.close(),
        ({ code, message, hint }: GantryError) => [code, message, hint],
      )
    const refused = expect.stringContaining('refused to authenticate')
    const asked = expect.stringContaining('PGPASSWORD')
    await expect.poll(() => problem(as('locked', 'wrong'))).toEqual(['QUEUE_UNAVAILABLE', refused, asked])
    expect(await problem(as('tls_only', ''))).toEqual(['QUEUE_UNAVAILABLE', refused, asked])
    expect(await problem(as('gantry', '', '?sslmode=require'))).toEqual([
      'QUEUE_UNAVAILABLE',
      expect.stringContaining('cannot be used with TLS'),
      expect.stringContaining('PGSSLMODE'),
    ])
    expect(await owner.query(`SELECT 1 AS there FROM pg_namespace WHERE nspname LIKE 'gantry%'`)).toEqual([])
  } finally {
    writeFileSync(String(file), before)
    await owner.close()
  }
})

withServer('a queue of a newer version is refused', async () => {
  const url = await server.database()
  await (await openTrialQueue(url)).close()
  const sql = await openPostgres(url)
  await sql.query('UPDATE meta SET version = 99')
  await sql.close()
  await expect(openTrialQueue(url)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('newer'),
  })
})

withServer('each role of the documentation may do its work and nothing else', async () => {
  const url = await server.database()
  await (await openTrialQueue(url)).close()
  const owner = await openPostgres(url)
  const [, grants = ''] = /```sql\n(.*?)```/s.exec(readFileSync('docs/queue.md', 'utf8')) ?? []
  // Roles are those of the whole server, which may be there for longer than this test.
  const make = (_: string, role: string): string =>
    `DO $$BEGIN CREATE ROLE ${role}; EXCEPTION WHEN duplicate_object THEN NULL; END$$;`
  await owner.query(grants.replaceAll(/--.*/g, '').replaceAll(/CREATE ROLE (\w+);/g, make))
  const as = (role: string): Promise<ReturnType<typeof oneByOne>> => {
    const own = new URL(url)
    own.username = `${role}_${new URL(url).pathname.slice(1)}`
    return owner
      .query(`CREATE ROLE ${own.username} LOGIN; GRANT gantry_${role} TO ${own.username}`)
      .then(async () => oneByOne(await openTrialQueue(own.href)))
  }
  const [submit, work, read] = [await as('submit'), await as('work'), await as('read')]
  const need = { agent: 'a', labels: [], memoryMb: 0, gantry: '1' }
  const trial = { spec: '{}', need, group: 'g', expectedUsd: null }
  const run = {
    ...{ id: 'r', planHash: 'h', document: '{}', project: 'p', capUsd: 5, priority: 0 },
    trials: ['a', 'b', 'c'].map((id) => ({ id, ...trial })),
  }
  const refused = {
    code: 'QUEUE_UNAVAILABLE',
    message: expect.stringContaining('refused for lack of rights'),
  }
  const facts = {
    host: 'h',
    slots: 2,
    gantry: '1',
    labels: [],
    agents: {},
    memoryMb: 1,
    onlyAgents: [],
    refusals: {},
  }
  await owner.query(make('', 'gantry_nothing'))
  await expect(as('nothing')).rejects.toMatchObject(refused)
  await expect(read.submit(run)).rejects.toMatchObject(refused)
  await expect(work.submit(run)).rejects.toMatchObject(refused)
  await submit.put(Buffer.from('x'))
  expect(await submit.submit(run)).toBe(true)
  await work.register({ id: 'w', ...facts })
  await work.expire()
  const claim = await work.claim('w', () => true)
  if (claim === null) throw new Error('nothing to claim')
  await submit.limit('g', 4)
  expect(await work.beat(claim, 1)).toBe(true)
  expect(await work.complete(claim, { record: '{}', archive: Buffer.from('y'), costUsd: 1 })).toBe(true)
  const next = await work.claim('w', () => true)
  if (next === null) throw new Error('nothing to claim')
  await expect(read.complete(next, { record: '{}', archive: null, costUsd: 0 })).rejects.toMatchObject(
    refused,
  )
  await expect(submit.complete(next, { record: '{}', archive: null, costUsd: 0 })).rejects.toMatchObject(
    refused,
  )
  await work.giveBack(next, { spentUsd: 1 })
  await work.tell('r', 1, ['x'])
  await submit.tell('r', 0, ['x'])
  await expect(read.tell('r', 0, ['x'])).rejects.toMatchObject(refused)
  expect(await read.notes('r', { attempt: 0, no: 0 }, 9)).toHaveLength(2)
  await work.pause('g', 1, 'limit')
  await submit.pause('*', null, 'by a person')
  await expect(read.pause('*', null, 'x')).rejects.toMatchObject(refused)
  await submit.resume('*')
  expect(await submit.drain(null)).toBe(1)
  expect(await submit.stop('r', 'stopped')).toBe(2)
  expect(await submit.retry('r')).toBe(2)
  expect(await read.run('r')).toMatchObject({ open: 2, spentUsd: 2 })
  expect(await read.results('r', 0, 9)).toHaveLength(1)
  expect(
    [await read.lanes(), await read.workers(), await read.specs('r')].map(({ length }) => length),
  ).toEqual([1, 1, 3])
  await work.unregister('w')
  for (const queue of [submit, work, read, owner]) await queue.close()
})

withServer('a trial that ends while another worker looks for lost ones keeps its record', async () => {
  const url = await server.database()
  const queue = oneByOne(await openTrialQueue(url))
  const need = { agent: 'a', labels: [], memoryMb: 0, gantry: '1' }
  await queue.submit({
    ...{ id: 'r', planHash: 'h', document: '{}', project: 'p', capUsd: null, priority: 0 },
    trials: [{ id: 't', spec: '{}', need, group: 'g', expectedUsd: null }],
  })
  const claim = await queue.claim('w', () => true)
  if (claim === null) throw new Error('nothing to claim')
  const sql = await openPostgres(url)
  let isEnded = false
  const looking = await openOn(
    {
      ...sql,
      transaction: (work) =>
        sql.transaction((session) =>
          work({
            query: async (text, values) => {
              const rows = await session.query(text, values)
              if (text.includes("WHERE state = 'running'") && text.startsWith('SELECT run, id') && !isEnded)
                isEnded = await queue.complete(claim, { record: '{}', archive: null, costUsd: 1 })
              return rows
            },
          }),
        ),
    },
    'postgres',
  )
  await looking.expire()
  expect(isEnded).toBe(true)
  expect(await queue.results('r', 0, 9)).toMatchObject([{ record: '{}', no: 1 }])
  expect(await queue.run('r')).toMatchObject({ open: 0, settled: 1 })
  for (const each of [queue, looking]) await each.close()
})

withServer('kill -9 of the server loses nothing that was committed, and the queue goes on', async () => {
  const child = server.process()
  if (child === null) return
  const queue = oneByOne(await openTrialQueue(await server.database()))
  const need = { agent: 'a', labels: [], memoryMb: 0, gantry: '1' }
  const trials = Array.from({ length: 3 }, (_, index) => ({
    id: `t${index}`,
    spec: '{}',
    need,
    group: 'g',
    expectedUsd: null,
  }))
  await queue.submit({
    id: 'r',
    planHash: 'h',
    document: '{}',
    project: 'p',
    capUsd: null,
    priority: 0,
    trials,
  })
  const first = await queue.claim('w', () => true)
  const second = await queue.claim('w', () => true)
  if (first === null || second === null) throw new Error('nothing to claim')
  const done = { record: '{}', archive: null, costUsd: 1 }
  await queue.complete(first, done)
  child.kill('SIGKILL')
  // A process of the server may still answer before it notices that the server is gone.
  const outcome = await queue.complete(second, done).catch(({ code }: GantryError) => code)
  expect([true, 'QUEUE_UNAVAILABLE']).toContain(outcome)
  await server.restart()
  if (outcome !== true) expect(await queue.complete(second, done)).toBe(true)
  expect(await queue.run('r')).toMatchObject({ settled: 2, spentUsd: 2 })
  await queue.close()
})
