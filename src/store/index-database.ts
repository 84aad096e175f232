import { GantryError } from '../core/error.ts'
import { fileIdentity, makeDirectories } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { acquireLock } from '../io/lock.ts'
import { type Database, openDatabase } from '../io/sqlite.ts'
import type { Store, TrialRow } from './contract.ts'
import type { IndexedRun } from './index-rows.ts'

/** "GAN", then a number that is raised whenever the tables change: tables of any other version are thrown away. */
const indexVersion = 0x47_41_4e_01

const indexSchema = `
  DROP TABLE IF EXISTS runs;
  DROP TABLE IF EXISTS trials;
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL,
    started_at TEXT NOT NULL, ended_at TEXT, pinned INTEGER NOT NULL, blessed INTEGER NOT NULL, stuck INTEGER NOT NULL,
    trials INTEGER, pass INTEGER, fail INTEGER, infra INTEGER, invalid INTEGER, not_run INTEGER, cached INTEGER,
    cost_usd REAL, unmetered_trials INTEGER, duration_ms INTEGER, stamp TEXT NOT NULL
  ) STRICT;
  CREATE TABLE trials (
    run_id TEXT NOT NULL, trial_id TEXT NOT NULL, "case" TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL,
    attempt INTEGER NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, score REAL, cost_usd REAL,
    duration_ms REAL NOT NULL, started_at TEXT NOT NULL, cached_from TEXT, cache_key TEXT,
    PRIMARY KEY (run_id, trial_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX trials_by_case ON trials ("case", agent, model, started_at);
  PRAGMA user_version = ${indexVersion};
`

const runColumns = [
  'run_id',
  'kind',
  'title',
  'status',
  'started_at',
  'ended_at',
  'pinned',
  'blessed',
  'stuck',
  'trials',
  'pass',
  'fail',
  'infra',
  'invalid',
  'not_run',
  'cached',
  'cost_usd',
  'unmetered_trials',
  'duration_ms',
  'stamp',
] as const

const trialColumns = [
  'run_id',
  'trial_id',
  'case',
  'agent',
  'model',
  'attempt',
  'verdict',
  'reason',
  'score',
  'cost_usd',
  'duration_ms',
  'started_at',
  'cached_from',
  'cache_key',
] as const

/** The index, open. */
export interface RunIndex {
  /** Stamp of every indexed run. */
  stamps(): Map<string, string>
  runs(): IndexedRun[]
  /** Replaces a run's row, and its trials unless `keepTrials`; then `trials` are added to those there. */
  put(run: IndexedRun, trials: Iterable<TrialRow>, keepTrials: boolean): void
  remove(runId: string): void
  clear(): void
  countTrials(): number
  history(filter: TrialFilter): TrialRow[]
}

export interface TrialFilter {
  readonly case: string
  readonly agent?: string
  readonly model?: string
  /** Newest first. Default 100. */
  readonly limit?: number
}

/**
 * Opens the index for one piece of work. A damaged one, or one of another version, is thrown away: it is a cache, and the
 * work finds it empty.
 */
export function withIndex<T>(store: Store, work: (index: RunIndex) => T): T {
  makeDirectories(store.root)
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
    // Nobody waits for the disk for the sake of a cache: what a power cut spoils is found damaged and built anew.
    database.exec('PRAGMA synchronous = OFF')
    prepareSchema(database)
    return work(runIndex(database))
  } finally {
    database.close()
  }
}

/** Of several processes that met the same damage one deletes it; what another has already made anew is left alone. */
function discardIndex(store: Store, identity: string | null): void {
  const lock = acquireLock(`${store.indexFile}.lock`, { label: 'index' })
  try {
    if (lock === null || (identity !== null && fileIdentity(store.indexFile) !== identity)) return
    // The database goes last: as long as it is there, nobody begins a new one beside the old companions.
    for (const suffix of ['-shm', '-wal', '']) removeTree(`${store.indexFile}${suffix}`)
  } finally {
    lock?.release()
  }
}

function prepareSchema(database: Database): void {
  const isCurrent = (): boolean =>
    database.prepare('PRAGMA user_version').get()?.user_version === indexVersion
  if (isCurrent()) return
  database.transaction(() => {
    // Another process may have made the tables while this one waited for its turn.
    if (!isCurrent()) database.exec(indexSchema)
  })
}

function runIndex(database: Database): RunIndex {
  return {
    stamps: () => {
      const rows = database.prepare('SELECT run_id, stamp FROM runs').all()
      return new Map(rows.map((row) => [String(row.run_id), String(row.stamp)]))
    },
    runs: () => database.prepare('SELECT * FROM runs').all() as unknown as IndexedRun[],
    put: (run, trials, keepTrials) =>
      database.transaction(() => {
        if (!keepTrials) database.prepare('DELETE FROM trials WHERE run_id = ?').run(run.run_id)
        const addTrial = database.prepare(insertInto('trials', trialColumns))
        for (const trial of trials) addTrial.run(...trialColumns.map((name) => trial[name]))
        database.prepare(insertInto('runs', runColumns)).run(...runColumns.map((name) => run[name]))
      }),
    remove: (runId) =>
      database.transaction(() => {
        for (const table of ['trials', 'runs'])
          database.prepare(`DELETE FROM ${table} WHERE run_id = ?`).run(runId)
      }),
    clear: () => database.transaction(() => database.exec('DELETE FROM trials; DELETE FROM runs')),
    countTrials: () => Number(database.prepare('SELECT count(*) AS n FROM trials').get()?.n),
    history: ({ case: name, agent = null, model = null, limit = 100 }) =>
      database
        .prepare(
          `SELECT * FROM trials WHERE "case" = ?1 AND (?2 IS NULL OR agent = ?2) AND (?3 IS NULL OR model = ?3)
           ORDER BY started_at DESC, run_id DESC, attempt DESC LIMIT ?4`,
        )
        .all(name, agent, model, limit)
        .map((row) => ({ kind: 'trial', ...row })) as unknown as TrialRow[],
  }
}

function insertInto(table: string, columns: readonly string[]): string {
  const names = columns.map((name) => `"${name}"`).join(', ')
  return `INSERT OR REPLACE INTO ${table} (${names}) VALUES (${columns.map(() => '?').join(', ')})`
}
