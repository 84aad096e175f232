import type { Db, PgBoss } from 'pg-boss'
import type { SqlDatabase, SqlSession } from '../../io/sql.ts'
import { type Leases, maxAttempts, type TakenLease } from './leases.ts'

const schema = 'gantry_boss'
/** Far longer than any trial: its own limit ends it. A lease ends by missing beats. */
const expireInSeconds = 23 * 3600
const retentionSeconds = 30 * 86_400
const stateOf: Readonly<Record<string, 'held' | 'waiting'>> = {
  active: 'held',
  created: 'waiting',
  retry: 'waiting',
}

/** Leases as jobs of pg-boss, one of its queues per lane. The results are not in the jobs. */
export async function bossLeases(
  sql: SqlDatabase,
  backend: 'postgres' | 'pglite',
  leaseSeconds: number,
): Promise<Leases> {
  const { PgBoss } = await import('pg-boss')
  const boss: PgBoss = new PgBoss({
    db: bossDb(sql),
    backend,
    schema,
    schedule: false,
    supervise: false,
    monitorIntervalSeconds: Math.ceil(leaseSeconds / 3),
    // A retried job sends no notification, so recovery would wait for the slow poll.
  })
  // It reports what fails in the background; what matters fails again in a call.
  boss.on('error', () => {})
  await boss.start()
  const known = new Set<string>()
  const makeLane = async (lane: string): Promise<void> => {
    if (known.has(lane)) return
    await boss.createQueue(lane, {
      retryLimit: maxAttempts,
      heartbeatSeconds: leaseSeconds,
      expireInSeconds,
      retentionSeconds,
      deleteAfterSeconds: 86_400,
    })
    // Reads what pg-boss must know of the lane: later calls are inside transactions and must not need a second connection.
    await boss.touch(lane, { id: '00000000-0000-0000-0000-000000000000', retryCount: 0 })
    known.add(lane)
  }
  const on = (session: SqlSession) => ({ db: bossDb(session) })
  const attemptOf = ({ id, attempt }: TakenLease) => ({ id, retryCount: attempt })
  return {
    leaseSeconds,
    makeLane,
    async add(session, lane, leases) {
      const jobs = leases.map(({ id, group, priority }) => ({ id, priority, group: { id: group } }))
      await boss.insert(lane, jobs, on(session))
    },
    async take(session, lane, ignoredGroups, most) {
      const jobs = await boss.fetch(lane, {
        batchSize: most,
        includeMetadata: true,
        ignoreGroups: [...ignoredGroups],
        ...on(session),
      })
      return jobs.map(({ id, retryCount }) => ({ id, attempt: retryCount }))
    },
    touch: async (lane, lease) => settled(await boss.touch(lane, attemptOf(lease))).length === 1,
    end: async (session, lane, leases) =>
      leases.length === 0 ? [] : settled(await boss.complete(lane, leases.map(attemptOf), null, on(session))),
    async cancel(session, lane, ids) {
      if (ids.length > 0) await boss.deleteJob(lane, [...ids], on(session))
    },
    async expire(lanes) {
      for (const lane of lanes) await boss.supervise(lane)
    },
    async states(session, _lane, ids) {
      const rows = await session.query(
        `SELECT id::text AS id, state::text AS state FROM ${schema}.job WHERE id = ANY($1::uuid[])`,
        [[...ids]],
      )
      const states = new Map(rows.map(({ id, state }) => [String(id), stateOf[String(state)]]))
      return new Map(ids.map((id) => [id, states.get(id) ?? 'dead']))
    },
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

function bossDb(session: SqlSession): Db {
  return {
    executeSql: async (text, values = []) => ({ rows: await session.query(text, values as string[]) }),
  }
}

/** Ids of the jobs that a call changed. The declared type of the answer has no fields. */
function settled(answer: unknown): readonly string[] {
  return (answer as { readonly settled: readonly string[] }).settled
}
