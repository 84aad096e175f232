import type { SqlDatabase, SqlRow } from '../../io/sql.ts'
import { type Leases, maxAttempts } from './leases.ts'

/** Leases in a table of their own, for the processes of one machine. */
export async function sqliteLeases(sql: SqlDatabase, leaseSeconds: number): Promise<Leases> {
  await sql.query(
    `CREATE TABLE IF NOT EXISTS leases (id TEXT PRIMARY KEY, lane TEXT NOT NULL, grp TEXT NOT NULL, priority INTEGER NOT NULL,
     state TEXT NOT NULL, attempt INTEGER NOT NULL, beat_ms BIGINT)`,
  )
  await sql.query('CREATE INDEX IF NOT EXISTS leases_waiting ON leases (lane, state, priority DESC)')
  const held = `id = $1 AND attempt = $2 AND state = 'held'`
  return {
    leaseSeconds,
    makeLane: async () => {},
    async add(session, lane, leases) {
      for (const { id, group, priority } of leases) {
        const values = [id, lane, group, priority]
        await session.query(`INSERT INTO leases VALUES ($1, $2, $3, $4, 'waiting', 0, NULL)`, values)
      }
    },
    async take(session, lane, ignoredGroups, most) {
      const ignored = ignoredGroups.map((_, index) => `$${index + 2}`).join(', ')
      const rows = await session.query(
        `UPDATE leases SET state = 'held', beat_ms = ${sql.nowMs} WHERE id IN
         (SELECT id FROM leases WHERE lane = $1 AND state = 'waiting' AND grp NOT IN (${ignored})
          ORDER BY priority DESC, rowid LIMIT ${Math.trunc(most)})
         RETURNING id, attempt`,
        [lane, ...ignoredGroups],
      )
      return rows.map(({ id, attempt }) => ({ id: String(id), attempt: Number(attempt) }))
    },
    touch: async (_lane, { id, attempt }) =>
      (await sql.query(`UPDATE leases SET beat_ms = ${sql.nowMs} WHERE ${held} RETURNING id`, [id, attempt]))
        .length > 0,
    async end(session, _lane, leases) {
      const ended: SqlRow[] = []
      for (const { id, attempt } of leases)
        ended.push(...(await session.query(`DELETE FROM leases WHERE ${held} RETURNING id`, [id, attempt])))
      return ended.map(({ id }) => String(id))
    },
    async cancel(session, _lane, ids) {
      for (const id of ids)
        await session.query(`DELETE FROM leases WHERE id = $1 AND state = 'waiting'`, [id])
    },
    expire: async () => {
      await sql.query(
        `UPDATE leases SET attempt = attempt + 1, state = CASE WHEN attempt + 1 >= ${maxAttempts} THEN 'dead' ELSE 'waiting' END
         WHERE state = 'held' AND beat_ms < ${sql.nowMs} - ${leaseSeconds * 1000}`,
      )
    },
    async states(session, _lane, ids) {
      const asked = 'id IN (SELECT value FROM json_each($1))'
      const rows = await session.query(`SELECT id, state FROM leases WHERE ${asked}`, [JSON.stringify(ids)])
      const found = new Map(rows.map(({ id, state }) => [id, state as 'waiting' | 'held' | 'dead']))
      return new Map(ids.map((id) => [id, found.get(id) ?? 'dead']))
    },
    close: async () => {},
  }
}
