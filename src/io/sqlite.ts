import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { GantryError } from '../core/error.ts'
import type { ErrorMeaning } from './fs-error.ts'

type Row = Record<string, SQLOutputValue>

/** A SQLite database. Whatever it answers for a fault of the disk comes as GantryError; a fault in the SQL is a bug and stays as it is. */
export interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): Statement
  /**
   * Atomic. Takes the write lock at the beginning, so it never fails later because of another writer. A nested transaction is rolled
   * back separately.
   */
  transaction<T>(work: () => T): T
  close(): void
}

type Statement = ReturnType<typeof wrapStatement>

const busyTimeoutMs = 10_000

/**
 * Opens or creates a database that several processes may use at once. Throws GantryError CORRUPT for a file that is
 * damaged or not a database (a caller that can rebuild it deletes it), NOT_WRITABLE, NO_SPACE, or LOCKED after ten seconds of waiting.
 */
export function openDatabase(path: string): SqliteDatabase {
  return guarded(path, () => {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
    try {
      // The first thing that really reads the file. NORMAL keeps the file whole after a crash; only a power cut can lose the last commits.
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA schema_version')
    } catch (cause) {
      database.close()
      throw cause
    }
    return wrap(database, path)
  })
}

function wrap(database: DatabaseSync, path: string): SqliteDatabase {
  let depth = 0
  const exec = (sql: string): void => guarded(path, () => database.exec(sql))
  return {
    exec,
    prepare: (sql) => {
      const prepare = (): StatementSync => guarded(path, () => database.prepare(sql))
      return wrapStatement(prepare(), prepare, path)
    },
    transaction: (work) => {
      const name = `inner${depth}`
      exec(depth === 0 ? 'BEGIN IMMEDIATE' : `SAVEPOINT ${name}`)
      depth += 1
      try {
        const result = work()
        exec(depth === 1 ? 'COMMIT' : `RELEASE ${name}`)
        return result
      } catch (error) {
        // A full disk or a damaged file may already have ended the transaction.
        if (database.isTransaction) exec(depth === 1 ? 'ROLLBACK' : `ROLLBACK TO ${name}; RELEASE ${name}`)
        throw error
      } finally {
        depth -= 1
      }
    },
    close: () => {
      if (database.isOpen) guarded(path, () => database.close())
    },
  }
}

function wrapStatement(statement: StatementSync, again: () => StatementSync, path: string) {
  let listing: StatementSync | null = null
  return {
    /** Like `all`, with each row as an array of its values, which costs half as much for many rows. */
    values: (...parameters: SQLInputValue[]): SQLOutputValue[][] => {
      if (listing === null) {
        listing = again()
        listing.setReturnArrays(true)
      }
      const rows = listing
      return guarded(path, () => rows.all(...parameters)) as unknown as SQLOutputValue[][]
    },
    run: (...parameters: SQLInputValue[]): { readonly changes: number | bigint } =>
      guarded(path, () => statement.run(...parameters)),
    get: (...parameters: SQLInputValue[]): Row | undefined =>
      guarded(path, () => statement.get(...parameters)),
    all: (...parameters: SQLInputValue[]): Row[] => guarded(path, () => statement.all(...parameters)),
  }
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw translated(cause, path)
  }
}

/** By SQLite's primary result codes. */
const meanings = new Map<number, ErrorMeaning>([
  [5, { code: 'LOCKED', text: 'is in use by another process', hint: 'Wait for it to end, or end it.' }],
  [6, { code: 'LOCKED', text: 'is in use', hint: 'Wait for it to end, or end it.' }],
  [8, { code: 'NOT_WRITABLE', text: 'cannot be written', hint: 'Check owner and permissions.' }],
  [10, { code: 'NOT_WRITABLE', text: 'cannot be read or written', hint: 'Check the disk.' }],
  [11, { code: 'CORRUPT', text: 'is damaged', hint: 'Delete it; it can be rebuilt.' }],
  [13, { code: 'NO_SPACE', text: 'cannot grow: no space left on the disk', hint: 'Free some space.' }],
  [
    14,
    {
      code: 'NOT_WRITABLE',
      text: 'cannot be opened',
      hint: 'Check the directory, its owner and permissions.',
    },
  ],
  [26, { code: 'CORRUPT', text: 'is not a database', hint: 'Delete it; it can be rebuilt.' }],
])

function translated(cause: unknown, path: string): unknown {
  if (!(cause instanceof Error) || !('errcode' in cause)) return cause
  const meaning = meanings.get(Number(cause.errcode) & 0xff)
  if (meaning === undefined) return cause
  return new GantryError(meaning.code, `${path} ${meaning.text}`, {
    hint: meaning.hint,
    at: { file: path },
    cause,
  })
}
