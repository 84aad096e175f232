import { setTimeout } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { GantryError } from '../core/error.ts'
import { openDatabase } from './sqlite.ts'

export type SqlValue = string | number | boolean | null | Uint8Array | readonly string[]
export type SqlRow = Readonly<Record<string, unknown>>

/** A database of a queue. Parameters are `$1`, `$2`, … */
export interface SqlDatabase extends SqlSession {
  readonly kind: 'postgres' | 'sqlite'
  /** The database's clock in milliseconds, as an expression. Clocks of machines differ. */
  readonly nowMs: string
  /** Atomic. Commits when the work settles, rolls back when it throws. */
  transaction<T>(work: (session: SqlSession) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** One connection, or any of them. */
export interface SqlSession {
  query(text: string, values?: readonly SqlValue[]): Promise<SqlRow[]>
}

export const postgresNowMs = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

const mostPlans = 500

/** Connects once to find out early what is wrong. TLS and password come from the usual variables and the address. */
export async function openPostgres(url: string, most = 8): Promise<SqlDatabase> {
  const { default: pg } = await import('pg')
  const pool: Pool = new pg.Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: 10_000,
    // A cut network gives no answer at all.
    query_timeout: 60_000,
    keepAlive: true,
    application_name: 'gantry',
    options: '-c search_path=gantry,public',
  })
  // A connection that is lost while idle. The next query opens another one or fails.
  pool.on('error', () => {})
  const names = new Map<string, string>()
  const run = async (on: Pool | PoolClient, text: string, values: readonly SqlValue[] = []) => {
    // A name makes the server keep the plan of the statement. Some texts name a run, and there may be any number of those.
    if (/^\s*(?:SELECT|WITH|INSERT|UPDATE)\b[^;]*$/.test(text) && names.size < mostPlans)
      names.set(text, names.get(text) ?? `gantry${names.size}`)
    const name = names.get(text)
    try {
      const result = await on.query({ text, values: [...values], ...(name !== undefined && { name }) })
      return (Array.isArray(result) ? result.flatMap(({ rows }) => rows) : result.rows) as SqlRow[]
    } catch (cause) {
      throw translated(cause)
    }
  }
  try {
    await run(pool, 'SELECT 1')
  } catch (error) {
    await pool.end()
    throw error
  }
  const transaction: SqlDatabase['transaction'] = async (work) => {
    const client = await pool.connect().catch((cause: unknown) => {
      throw translated(cause)
    })
    let broken = false
    // Without a listener, a connection that the server closes now would end this process.
    const onError = (): void => {
      broken = true
    }
    client.on('error', onError)
    try {
      await run(client, 'BEGIN')
      const result = await work({ query: (text, values) => run(client, text, values) })
      await run(client, 'COMMIT')
      return result
    } catch (error) {
      await run(client, 'ROLLBACK').catch(() => {
        broken = true
      })
      throw error
    } finally {
      client.off('error', onError)
      client.release(broken)
    }
  }
  return {
    kind: 'postgres',
    nowMs: postgresNowMs,
    query: (text, values) => run(pool, text, values),
    async transaction(work) {
      // PostgreSQL ended one of two that waited for each other.
      for (let tries = 0; ; tries += 1) {
        try {
          return await transaction(work)
        } catch (error) {
          if (tries >= 5 || !/^40/.test((error as { readonly code?: string }).code ?? '')) throw error
        }
      }
    },
    close: () => pool.end(),
  }
}

const patienceMs = 30_000

/** Another process writes. Waiting for it must not stop this one, so SQLite itself waits only for an instant. */
async function whenFree<T>(work: () => Promise<T>): Promise<T> {
  for (let waitedMs = 0; ; ) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof GantryError && error.code === 'LOCKED') || waitedMs > patienceMs) throw error
    }
    const pauseMs = 5 + Math.min(waitedMs, 45)
    await setTimeout(pauseMs)
    waitedMs += pauseMs
  }
}

/** A file of one machine. Calls of this process run one after the other, because they share a connection. */
export function openSqlite(path: string): SqlDatabase {
  const database = openDatabase(path)
  database.exec('PRAGMA busy_timeout = 20')
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work)
    last = turn.catch(() => {})
    return turn
  }
  const run = async (text: string, values: readonly SqlValue[] = []): Promise<SqlRow[]> => {
    if (values.length === 0 && text.includes(';')) {
      database.exec(text)
      return []
    }
    const plain = values.map((value) => (typeof value === 'boolean' ? Number(value) : value)) as (
      | string
      | number
      | null
    )[]
    return database.prepare(text.replaceAll(/\$(\d+)/g, '?$1')).all(...plain)
  }
  return {
    kind: 'sqlite',
    nowMs: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
    query: (text, values) => inTurn(() => whenFree(() => run(text, values))),
    transaction: (work) =>
      inTurn(async () => {
        await whenFree(async () => database.exec('BEGIN IMMEDIATE'))
        try {
          const result = await work({ query: run })
          database.exec('COMMIT')
          return result
        } catch (error) {
          database.exec('ROLLBACK')
          throw error
        }
      }),
    close: () => inTurn(async () => database.close()),
  }
}

const hints: readonly (readonly [RegExp, string, string])[] = [
  [
    /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENOENT)$/,
    'cannot be reached',
    'Check the address, and that the server runs.',
  ],
  [
    /^28/,
    'refused to authenticate',
    'Check user and password: in the address, in PGPASSWORD or in ~/.pgpass.',
  ],
  [
    /CERT|ERR_TLS|^TLS$/,
    'cannot be used with TLS',
    'Check PGSSLMODE or sslmode in the address, and the certificate of the server.',
  ],
  [/^3D000$/, 'has no such database', 'Create it with createdb, or name another one.'],
  [
    /^42501$/,
    'refused for lack of rights',
    'Grant the rights that docs/queue.md lists, or use another role.',
  ],
  [/^53/, 'has no resources left', 'Free disk space or connections on the server.'],
  [/^(?:57P0|08|ECONNRESET|EPIPE)/, 'closed the connection', 'Wait until the server runs again.'],
]

/** Whether the same call may succeed when the server runs again. */
export function isServerAway(error: unknown): error is GantryError {
  if (!(error instanceof GantryError) || error.code !== 'QUEUE_UNAVAILABLE') return false
  const { code = '' } = (error.cause ?? {}) as { readonly code?: string }
  return !/^(?:28|3D|42)/.test(code)
}

/** The server is the environment's fault, as a GantryError. An error in the SQL is a bug and stays as it is. */
function translated(cause: unknown): unknown {
  const { code: given, message } = cause as { readonly code?: string; readonly message?: string }
  // The client has no code for a server that refuses TLS.
  const code = given ?? (/SSL connection/.test(message ?? '') ? 'TLS' : undefined)
  const isTimeout = /timeout|terminated|connection error|connection ended/i.test(message ?? '')
  const known = hints.find(([pattern]) => code !== undefined && pattern.test(code))
  const [, what, hint] = known ?? (code === undefined && isTimeout ? (hints[0] ?? []) : [])
  if (what === undefined || hint === undefined) return cause
  return new GantryError('QUEUE_UNAVAILABLE', `the PostgreSQL server ${what}: ${message ?? ''}`.trim(), {
    hint,
    cause,
  })
}
