import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GantryError } from '../../core/error.ts'
import { type Bucket, openBucket } from '../../io/bucket.ts'
import { isServerAway, openPostgres, openSqlite, type SqlDatabase, type SqlSession } from '../../io/sql.ts'
import { textBeside } from '../../io/text-beside.ts'
import { bossLeases } from './boss-leases.ts'
import { defaultLeaseSeconds, type TrialQueue } from './contract.ts'
import { sqliteLeases } from './sqlite-leases.ts'
import { trialQueue } from './trial-queue.ts'

/** One step per version of the tables. Queues in use have the earlier ones: change a table by a new step only. */
const steps = (): readonly string[] => [
  textBeside(import.meta.url, './tables.sql'),
  'CREATE TABLE notes (run TEXT NOT NULL, attempt INTEGER NOT NULL, no INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (run, attempt, no))',
]
const lockNumber = 7_042_618

export interface QueuePlace {
  /** Where blobs are kept instead of in the database: a directory of all machines, or `s3://bucket/prefix`. */
  readonly blobs?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
}

/**
 * Opens the queue at an address: `postgres://…`, or `sqlite:FILE` for several processes of one machine. Makes its tables the first
 * time. Throws GantryError USAGE for another address or a queue of a newer Gantry, QUEUE_UNAVAILABLE for a server.
 */
export async function openTrialQueue(
  address: string,
  { blobs, cwd = '.', env = {} }: QueuePlace = {},
): Promise<TrialQueue> {
  const bucket = blobs === undefined ? null : openBucket(blobs, { cwd, env })
  const lease = leaseOf(env)
  if (/^postgres(?:ql)?:\/\//.test(address))
    return openOn(await openPostgres(address), 'postgres', bucket, lease)
  if (address.startsWith('sqlite:'))
    return openOn(openSqlite(resolve(cwd, address.slice('sqlite:'.length))), 'sqlite', bucket, lease)
  throw new GantryError('USAGE', `${JSON.stringify(address)} is not the address of a queue`, {
    hint: 'Write postgres://user@host/database, or sqlite:FILE for one machine.',
  })
}

/** pg-boss refuses shorter ones. */
const shortestLeaseSeconds = 10

function leaseOf({ GANTRY_QUEUE_LEASE: text = '' }: Readonly<Record<string, string | undefined>>): number {
  const seconds = text === '' ? defaultLeaseSeconds : Number(text)
  if (Number.isInteger(seconds) && seconds >= shortestLeaseSeconds) return seconds
  throw new GantryError('USAGE', `GANTRY_QUEUE_LEASE is ${JSON.stringify(text)}`, {
    hint: `Set it to ${shortestLeaseSeconds} or more seconds, the same on all machines.`,
  })
}

const patienceMs = 10 * 60_000

/** The same queue, but a call that finds the server away waits for it. */
export function patient(queue: TrialQueue, signal: AbortSignal, note: (message: string) => void): TrialQueue {
  let isAway = false
  const patiently = async (call: () => Promise<unknown>): Promise<unknown> => {
    for (let waitedMs = 0; ; waitedMs += 1000) {
      try {
        const result = await call()
        isAway = false
        return result
      } catch (error) {
        if (!isServerAway(error) || waitedMs >= patienceMs || signal.aborted) throw error
        if (!isAway) note(`${error.message}; waiting for it`)
        isAway = true
      }
      await sleep(1000, undefined, { signal }).catch(() => {})
    }
  }
  return new Proxy(queue, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      return typeof method === 'function' ? (...args: unknown[]) => patiently(() => method(...args)) : method
    },
  })
}

/** On a database that is open already. Closes it when the queue is closed or cannot be opened. */
export async function openOn(
  sql: SqlDatabase,
  leases: 'postgres' | 'pglite' | 'sqlite',
  bucket: Bucket | null = null,
  leaseSeconds = defaultLeaseSeconds,
): Promise<TrialQueue> {
  try {
    await migrate(sql, steps())
    if (leases === 'sqlite') return trialQueue(sql, await sqliteLeases(sql, leaseSeconds), bucket)
    if (leases === 'pglite') return trialQueue(sql, await bossLeases(sql, leases, leaseSeconds), bucket)
    // Of several machines that start at once, one makes the tables of pg-boss.
    return await sql.transaction(async (session) => {
      await session.query(`SELECT pg_advisory_xact_lock(${lockNumber})`)
      return trialQueue(sql, await bossLeases(sql, leases, leaseSeconds), bucket)
    })
  } catch (error) {
    await sql.close()
    throw error
  }
}

/** Runs the steps that the database does not have yet, once even if several processes start now. Throws GantryError USAGE when it has more. */
export async function migrate(sql: SqlDatabase, all: readonly string[]): Promise<void> {
  const found = await versionOf(sql, sql.kind)
  if (found > all.length)
    throw new GantryError('USAGE', `the queue was made by a newer version of Gantry (tables ${found})`, {
      hint: 'Use that version on all machines.',
    })
  if (found === all.length) return
  await sql.transaction(async (session) => {
    if (sql.kind === 'postgres')
      await session.query(`SELECT pg_advisory_xact_lock(${lockNumber}); CREATE SCHEMA IF NOT EXISTS gantry`)
    const from = await versionOf(session, sql.kind)
    if (from === 0) await session.query('CREATE TABLE IF NOT EXISTS meta (version INTEGER NOT NULL)')
    for (const step of all.slice(from)) await session.query(step)
    if (from < all.length) await session.query(`DELETE FROM meta; INSERT INTO meta VALUES (${all.length})`)
  })
}

async function versionOf(session: SqlSession, kind: SqlDatabase['kind']): Promise<number> {
  const there = await session.query(
    kind === 'sqlite'
      ? `SELECT 1 AS there FROM sqlite_master WHERE name = 'meta'`
      : `SELECT 1 AS there FROM pg_tables WHERE schemaname = 'gantry' AND tablename = 'meta'`,
  )
  // With its schema, so that a role without rights is refused for the lack of them.
  const table = kind === 'sqlite' ? 'meta' : 'gantry.meta'
  const [row] = there.length === 0 ? [] : await session.query(`SELECT version FROM ${table}`)
  return Number(row?.version ?? 0)
}
