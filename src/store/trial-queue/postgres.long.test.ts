import { afterAll, beforeAll, expect } from 'vitest'
import { needs } from '../../../test/support/needs.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../../test/support/postgres-server.ts'
import type { GantryError } from '../../core/error.ts'
import { openPostgres } from '../../io/sql.ts'
import { openOn, openTrialQueue } from './open-trial-queue.ts'
import { queueConformance } from './queue.conformance.ts'

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

withServer('kill -9 of the server loses nothing that was committed, and the queue goes on', async () => {
  const child = server.process()
  if (child === null) return
  const queue = await openTrialQueue(await server.database())
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
