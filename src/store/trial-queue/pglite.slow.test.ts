import { PGlite, type Transaction } from '@electric-sql/pglite'
import { afterAll, beforeAll } from 'vitest'
import { postgresNowMs, type SqlDatabase, type SqlRow, type SqlSession, type SqlValue } from '../../io/sql.ts'
import type { TrialQueue } from './contract.ts'
import { openOn } from './open-trial-queue.ts'
import { queueConformance } from './queue.conformance.ts'

let pglite: PGlite
let queues: readonly TrialQueue[]

beforeAll(async () => {
  pglite = await PGlite.create()
  await pglite.exec('SET search_path = gantry, public')
  queues = [await openOn(database(), 'pglite'), await openOn(database(), 'pglite')]
})
afterAll(async () => {
  for (const queue of queues) await queue.close()
  await pglite.close()
})

async function run(
  on: PGlite | Transaction,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<SqlRow[]> {
  if (values.length === 0) return (await on.exec(text)).flatMap(({ rows }) => rows as SqlRow[])
  return (await on.query<SqlRow>(text, [...values])).rows
}

function database(): SqlDatabase {
  return {
    kind: 'postgres',
    nowMs: postgresNowMs,
    query: (text, values) => run(pglite, text, values),
    transaction: (work) =>
      pglite.transaction((session) =>
        work({ query: (text, values) => run(session, text, values) } satisfies SqlSession),
      ),
    close: async () => {},
  }
}

/** One server for all tests: starting it takes seconds. The tables of Gantry and of pg-boss are emptied in between. */
queueConformance('PGlite', async () => {
  const [queue, other] = queues
  if (queue === undefined || other === undefined) throw new Error('not open')
  const sql = database()
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
      await pglite.exec(
        'TRUNCATE blobs, runs, trials, lanes, pauses, limits, workers, notes; DELETE FROM gantry_boss.job',
      )
    },
  }
})
