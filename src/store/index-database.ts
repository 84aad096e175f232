import { GantryError } from '../core/error.ts'
import { fileIdentity } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { acquireLock } from '../io/lock.ts'
import { makePrivateDirectories } from '../io/private-files.ts'
import { openDatabase, type SqliteDatabase } from '../io/sqlite.ts'
import { textBeside } from '../io/text-beside.ts'
import type { Store, TrialRow } from './contract.ts'
import type { IndexedRun } from './indexed-run.ts'

/** "GAN", then a version number. Tables of any other version are deleted. */
const indexVersion = 0x47_41_4e_03

const indexSchema = `${textBeside(import.meta.url, './index-tables.sql')}PRAGMA user_version = ${indexVersion};`

export type RunIndex = ReturnType<typeof runIndex>

export interface RunStamp {
  readonly stamp: string
  /** Its trials change only after its manifest did. */
  readonly hasEnded: boolean
}

export interface TrialFilter {
  readonly case?: string
  readonly agent?: string
  readonly model?: string
  readonly tag?: string
  /** Newest first. Default 100. */
  readonly limit?: number
}

/** Opens the index for one operation. It is a cache, so a damaged index or one of another version is deleted and recreated empty. */
export function withIndexDatabase<T>(store: Store, work: (index: RunIndex) => T): T {
  makePrivateDirectories(store.root)
  const identity = fileIdentity(store.indexFile)
  try {
    return opened(store, work)
  } catch (error) {
    if (!(error instanceof GantryError && error.code === 'CORRUPT')) throw error
    discardIndex(store, identity)
    return opened(store, work)
  }
}

function opened<T>(store: Store, work: (index: RunIndex) => T): T {
  const database = openDatabase(store.indexFile)
  try {
    // No fsync for a cache: after a power cut a damaged index is rebuilt.
    database.exec('PRAGMA synchronous = OFF')
    prepareSchema(database)
    return work(runIndex(database))
  } finally {
    database.close()
  }
}

/** One of several processes deletes a damaged index. An index that another process has already rebuilt stays. */
function discardIndex(store: Store, identity: string | null): void {
  const lock = acquireLock(`${store.indexFile}.lock`, { label: 'index' })
  try {
    if (lock === null || (identity !== null && fileIdentity(store.indexFile) !== identity)) return
    // Delete the database last, so no process creates a new one beside the old WAL files.
    for (const suffix of ['-shm', '-wal', '']) removeTree(`${store.indexFile}${suffix}`)
  } finally {
    lock?.release()
  }
}

function prepareSchema(database: SqliteDatabase): void {
  const isCurrent = (): boolean =>
    database.prepare('PRAGMA user_version').get()?.user_version === indexVersion
  if (isCurrent()) return
  database.transaction(() => {
    // Another process may have created the tables meanwhile.
    if (!isCurrent()) database.exec(indexSchema)
  })
}

function runIndex(database: SqliteDatabase) {
  return {
    /** Stamp of every indexed run, or of one. */
    stamps: (runId?: string): Map<string, RunStamp> => {
      const rows = database
        .prepare('SELECT run_id, stamp, status FROM runs WHERE ?1 IS NULL OR run_id = ?1')
        .all(runId ?? null)
      return new Map(
        rows.map(({ run_id, stamp, status }) => [
          String(run_id),
          { stamp: String(stamp), hasEnded: status !== 'running' && status !== 'unknown' },
        ]),
      )
    },
    runs: (): IndexedRun[] => database.prepare('SELECT * FROM runs').all() as unknown as IndexedRun[],
    /** Replaces a run's row and its trials. With `keepTrials` the trials are added to the existing ones. */
    put: (run: IndexedRun, trials: Iterable<TrialRow>, keepTrials: boolean): void =>
      database.transaction(() => {
        if (!keepTrials) database.prepare('DELETE FROM trials WHERE run_id = ?').run(run.run_id)
        const addTrial = inserter(database, 'trials')
        for (const { kind: _, ...trial } of trials) addTrial(trial)
        inserter(database, 'runs')({ ...run })
      }),
    remove: (runId: string): void =>
      database.transaction(() => {
        for (const table of ['trials', 'runs'])
          database.prepare(`DELETE FROM ${table} WHERE run_id = ?`).run(runId)
      }),
    clear: (): void => database.transaction(() => database.exec('DELETE FROM trials; DELETE FROM runs')),
    countTrials: (): number => Number(database.prepare('SELECT count(*) AS n FROM trials').get()?.n),
    history: ({ case: name, agent, model, limit = 100 }: TrialFilter): TrialRow[] =>
      database
        .prepare(
          `SELECT * FROM trials WHERE (?1 IS NULL OR "case" = ?1) AND (?2 IS NULL OR agent = ?2) AND (?3 IS NULL OR model = ?3)
           ORDER BY started_at DESC, run_id DESC, attempt DESC LIMIT ?4`,
        )
        .all(name ?? null, agent ?? null, model ?? null, limit)
        .map((row) => ({ kind: 'trial', ...row })) as unknown as TrialRow[],
    trialsOf: (runId: string): TrialRow[] =>
      database.prepare('SELECT * FROM trials WHERE run_id = ?').all(runId) as unknown as TrialRow[],
    /** Runs with such a trial. */
    runsWith: ({ case: name, agent, model, tag }: Omit<TrialFilter, 'limit'>) => {
      const found = database
        .prepare(
          `SELECT DISTINCT run_id FROM trials WHERE (?1 IS NULL OR "case" = ?1) AND (?2 IS NULL OR agent = ?2)
           AND (?3 IS NULL OR model = ?3) AND (?4 IS NULL OR instr(tags, ?4) > 0)`,
        )
        .all(name ?? null, agent ?? null, model ?? null, tag === undefined ? null : JSON.stringify(tag))
      return new Set(found.map(({ run_id }) => String(run_id)))
    },
    /** Every agent, model and list of tags there is. */
    names: () => {
      const all = (column: string): string[] =>
        database
          .prepare(`SELECT DISTINCT ${column} AS name FROM trials WHERE ${column} IS NOT NULL ORDER BY 1`)
          .all()
          .map(({ name }) => String(name))
      const tags = all('tags').flatMap((list) => JSON.parse(list) as string[])
      return { agents: all('agent'), models: all('model'), tags: [...new Set(tags)].sort() }
    },
  }
}

/** Adds or replaces rows by the names of the columns, which come from the table itself. */
function inserter(database: SqliteDatabase, table: 'runs' | 'trials') {
  const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all()
  const names = columns.map(({ name }) => String(name))
  const insert = database.prepare(
    `INSERT OR REPLACE INTO ${table} VALUES (${names.map(() => '?').join(', ')})`,
  )
  return (row: Readonly<Record<string, string | number | null>>) =>
    insert.run(...names.map((name) => row[name] ?? null))
}
