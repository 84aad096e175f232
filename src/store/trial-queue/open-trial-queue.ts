import { resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { openPostgres, openSqlite, type SqlDatabase } from '../../io/sql.ts'
import { textBeside } from '../../io/text-beside.ts'
import { bossLeases } from './boss-leases.ts'
import type { TrialQueue } from './contract.ts'
import { sqliteLeases } from './sqlite-leases.ts'
import { trialQueue } from './trial-queue.ts'

/** Version of the tables. A change of them gets the next number and a migration. */
const version = 1
const lockNumber = 7_042_618

/**
 * Opens the queue at an address: `postgres://…`, or `sqlite:FILE` for several processes of one machine. Makes its tables the first
 * time. Throws GantryError USAGE for another address or a queue of a newer Gantry, QUEUE_UNAVAILABLE for a server.
 */
export async function openTrialQueue(address: string, cwd = '.'): Promise<TrialQueue> {
  if (/^postgres(?:ql)?:\/\//.test(address)) return openOn(await openPostgres(address), 'postgres')
  if (address.startsWith('sqlite:'))
    return openOn(openSqlite(resolve(cwd, address.slice('sqlite:'.length))), 'sqlite')
  throw new GantryError('USAGE', `${JSON.stringify(address)} is not the address of a queue`, {
    hint: 'Write postgres://user@host/database, or sqlite:FILE for one machine.',
  })
}

/** On a database that is open already. Closes it when the queue is closed or cannot be opened. */
export async function openOn(
  sql: SqlDatabase,
  leases: 'postgres' | 'pglite' | 'sqlite',
): Promise<TrialQueue> {
  try {
    await prepareTables(sql)
    if (leases === 'sqlite') return trialQueue(sql, await sqliteLeases(sql))
    if (leases === 'pglite') return trialQueue(sql, await bossLeases(sql, leases))
    // Of several machines that start at once, one makes the tables of pg-boss.
    return await sql.transaction(async (session) => {
      await session.query(`SELECT pg_advisory_xact_lock(${lockNumber})`)
      return trialQueue(sql, await bossLeases(sql, leases))
    })
  } catch (error) {
    await sql.close()
    throw error
  }
}

async function prepareTables(sql: SqlDatabase): Promise<void> {
  const found = await versionOf(sql)
  if (found === version) return
  if (found !== null)
    throw new GantryError('USAGE', `the queue was made by a newer version of Gantry (tables ${found})`, {
      hint: 'Use that version on all machines.',
    })
  const tables = textBeside(import.meta.url, './tables.sql')
  if (sql.kind === 'sqlite')
    return void (await sql.query(`BEGIN IMMEDIATE; ${tables} INSERT INTO meta VALUES (${version}); COMMIT;`))
  await sql.transaction(async (session) => {
    // Of several machines that start at once, one makes the tables.
    await session.query(`SELECT pg_advisory_xact_lock(${lockNumber})`)
    if ((await versionOf(session)) !== null) return
    await session.query(`CREATE SCHEMA IF NOT EXISTS gantry; ${tables} INSERT INTO meta VALUES (${version})`)
  })
}

async function versionOf(
  session: Pick<SqlDatabase, 'query'> & { readonly kind?: string },
): Promise<number | null> {
  const there =
    session.kind === 'sqlite'
      ? await session.query(`SELECT 1 AS there FROM sqlite_master WHERE name = 'meta'`)
      : await session.query(
          `SELECT 1 AS there FROM pg_tables WHERE schemaname = 'gantry' AND tablename = 'meta'`,
        )
  if (there.length === 0) return null
  const [row] = await session.query('SELECT version FROM meta')
  return row === undefined ? null : Number(row.version)
}
