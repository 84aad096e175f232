import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleRecord } from '../../test/support/sample-record.ts'
import { GantryError } from '../core/error.ts'
import type { LiveRun, NewRun, RunRow, Store } from './contract.ts'
import { createRun } from './create-run.ts'
import { findRun } from './find-run.ts'
import { flagRun } from './flag-run.ts'
import { listRuns } from './list-runs.ts'
import { openStore } from './open-store.ts'
import { reindex } from './reindex.ts'
import { resumeRun } from './resume-run.ts'
import { trialHistory } from './trial-history.ts'

let root: string
let now: number
let store: Store

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-list-'))
  now = Date.parse('2025-06-30T12:00:00Z')
  store = openStore({ env: {}, cwd: root, root: join(root, 'store'), clock: { now: () => new Date(now) } })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('listRuns', () => {
  test('an empty store lists nothing and stays empty', async () => {
    expect(await listRuns(store)).toEqual({ runs: [], total: 0 })
    expect(existsSync(store.root)).toBe(false)
  })

  test('lists every run with its sums, newest first', async () => {
    const first = start({ title: 'first' })
    first.finishTrial(sampleRecord('a'))
    first.finishTrial(sampleRecord('b', { verdict: 'fail' }))
    now += 2_500
    await first.end({ status: 'fail' })
    const second = start({ kind: 'task', title: 'second' })
    await second.end({ status: 'pass' })
    flagRun(store, first.id, 'pinned', true)
    const { runs, total } = await listRuns(store)
    expect(total).toBe(2)
    expect(runs.map(({ title }) => title)).toEqual(['second', 'first'])
    expect(runs[1]).toEqual({
      id: first.id,
      dir: first.dir,
      kind: 'scenario',
      title: 'first',
      status: 'fail',
      live: false,
      startedAt: '2025-06-30T12:00:00.000Z',
      endedAt: '2025-06-30T12:00:02.500Z',
      totals: {
        trials: 2,
        counts: { pass: 1, fail: 1, infra: 0, invalid: 0 },
        not_run: 0,
        cached: 0,
        cost_usd: 0.5,
        unmetered_trials: 0,
        duration_ms: 2_500,
      },
      flags: ['pinned'],
    })
    expect((await listRuns(store, { kind: 'task' })).runs.map(({ title }) => title)).toEqual(['second'])
    expect(await listRuns(store, { limit: 1 })).toMatchObject({ runs: [{ title: 'second' }], total: 2 })
  })

  test('a copied run has the id of its directory', async () => {
    const run = start()
    await run.end({ status: 'pass' })
    const copy = run.id.replace(/.{6}$/, 'zzzzzz')
    cpSync(run.dir, join(store.runsDir, copy), { recursive: true })
    const { runs } = await listRuns(store)
    expect(runs.map(({ id }) => id).sort()).toEqual([run.id, copy].sort())
  })

  test('distinguishes running and killed runs, and counts their finished trials', async () => {
    const run = start()
    run.writePlan({ trials: ['a', 'b'].map((id) => ({ id })) })
    run.finishTrial(sampleRecord('a'))
    expect(await only()).toMatchObject({ status: 'running', live: true, totals: { trials: 1, not_run: 1 } })
    run.finishTrial(sampleRecord('b'))
    expect(await only()).toMatchObject({ totals: { trials: 2, not_run: 0 } })
    run.release()
    expect(await only()).toMatchObject({ status: 'interrupted', live: false, totals: { trials: 2 } })
    await resumeRun(store, run.id).end({ status: 'pass' })
    expect(await only()).toMatchObject({ status: 'pass', totals: { trials: 2 } })
  })

  test('shows what a killed run spent before its trials had records', async () => {
    const run = start({ kind: 'plugin' })
    run.change({ details: { spent_usd: 0.25 } })
    run.release()
    expect(await only()).toMatchObject({ status: 'interrupted', totals: { trials: 0, cost_usd: 0.25 } })
  })

  test('shows runs of older tools and damaged runs as unknown, and ignores other names', async () => {
    const run = start()
    run.release()
    writeFileSync(join(run.dir, 'manifest.json'), '{')
    mkdirSync(join(store.runsDir, '20200101-120000-claude-code-default-basic'))
    mkdirSync(join(store.runsDir, 'node_modules'))
    const { runs } = await listRuns(store)
    expect(runs.map(({ id, kind, status, title }) => [id, kind, status, title])).toEqual([
      [run.id, 'unknown', 'unknown', ''],
      ['20200101-120000-claude-code-default-basic', 'unknown', 'unknown', 'claude-code-default-basic'],
    ])
  })

  test.each([
    ['missing', () => rmSync(store.indexFile)],
    [
      'no database',
      () =>
        writeFileSync(store.indexFile, 'not a database at all, but long enough to be read as one'.repeat(50)),
    ],
    ['cut short', () => truncateSync(store.indexFile, 5_000)],
    ['empty', () => writeFileSync(store.indexFile, '')],
    ['of another version', () => withDatabase((database) => database.exec('PRAGMA user_version = 7'))],
    [
      'stale',
      () => withDatabase((database) => database.exec("UPDATE runs SET title = 'wrong', stamp = 'old'")),
    ],
    [
      'full of deleted runs',
      () =>
        withDatabase((database) =>
          database.exec(
            `INSERT INTO runs SELECT 'run_20200101_000000_gonegg', kind, title, status, started_at, ended_at, pinned, blessed, stuck,
        trials, pass, fail, infra, invalid, not_run, cached, cost_usd, unmetered_trials, duration_ms, stamp FROM runs`,
          ),
        ),
    ],
  ])('is correct when the index is %s, and repairs it', async (_, spoil) => {
    const run = start({ title: 'right' })
    run.finishTrial(sampleRecord('a'))
    await run.end({ status: 'pass' })
    const before = await listRuns(store)
    for (const suffix of ['-wal', '-shm']) rmSync(`${store.indexFile}${suffix}`, { force: true })
    spoil()
    expect(await listRuns(store)).toEqual(before)
    withDatabase((database) => {
      expect(database.prepare('SELECT title FROM runs').all()).toEqual([{ title: 'right' }])
      expect(database.prepare('SELECT trial_id FROM trials').all()).toEqual([{ trial_id: 'a' }])
    })
  })

  test('the index has the finished trials of a live run without reading its files', async () => {
    const run = start()
    for (const id of ['a', 'b']) run.finishTrial(sampleRecord(id))
    run.discardTrial('a')
    await run.end({ status: 'pass' })
    withDatabase((database) => {
      expect(database.prepare('SELECT trial_id FROM trials').all()).toEqual([{ trial_id: 'b' }])
      expect(database.prepare('SELECT trials, status FROM runs').all()).toEqual([
        { trials: 1, status: 'pass' },
      ])
    })
  })

  test('a run that cannot update the index warns and still passes', async () => {
    const warnings: string[] = []
    const run = start({ onWarning: (message) => warnings.push(message) })
    run.finishTrial(sampleRecord('a'))
    mkdirSync(store.indexFile)
    mkdirSync(store.resultsFile)
    await run.end({ status: 'pass' })
    expect(run.manifest().status).toBe('pass')
    expect(warnings.map((text) => text.split(' ')[0])).toEqual(['results.jsonl', 'index.db'])
    expect((await listRuns(store)).runs.map(({ id }) => id)).toEqual([run.id])
  })
})

describe('reindex', () => {
  test('counts, completes results.jsonl once, and keeps lines of removed runs', async () => {
    const run = start()
    run.finishTrial(sampleRecord('a'))
    run.finishTrial(sampleRecord('b'))
    await run.end({ status: 'pass' })
    const removed = '{"kind":"trial","run_id":"run_20200101_000000_abcdef","trial_id":"x"}\n'
    const [first, second, last] = readFileSync(store.resultsFile, 'utf8').trimEnd().split('\n')
    writeFileSync(store.resultsFile, `${removed}${first}\n{"kind":"tri`)
    expect(await reindex(store)).toEqual({ runs: 1, trials: 2, recovered: 2 })
    expect(readFileSync(store.resultsFile, 'utf8')).toBe(
      `${removed}${first}\n{"kind":"tri\n${second}\n${last}\n`,
    )
    expect(await reindex(store)).toEqual({ runs: 1, trials: 2, recovered: 0 })
  })

  test('an empty store stays empty', async () => {
    expect(await reindex(store)).toEqual({ runs: 0, trials: 0, recovered: 0 })
    expect(existsSync(store.root)).toBe(false)
  })
})

describe('trialHistory', () => {
  test('a query of an empty store creates nothing', async () => {
    expect(await trialHistory(store, { case: 'x' })).toEqual([])
    expect(existsSync(store.root)).toBe(false)
  })

  test('finds a case over all runs, newest first', async () => {
    for (const [minute, verdict] of [
      [1, 'pass'],
      [2, 'fail'],
    ] as const) {
      const run = start()
      run.finishTrial(sampleRecord('a', { verdict, startedAt: `2025-06-30T12:0${minute}:00.000Z` }))
      run.finishTrial(sampleRecord('b', { case: 'other' }))
      run.finishTrial(sampleRecord('c', { agent: 'else' }))
      await run.end({ status: verdict })
    }
    const found = await trialHistory(store, { case: 'note_capture', agent: 'mine' })
    expect(found.map(({ kind, verdict }) => [kind, verdict])).toEqual([
      ['trial', 'fail'],
      ['trial', 'pass'],
    ])
    expect(await trialHistory(store, { case: 'note_capture' })).toHaveLength(4)
    expect(await trialHistory(store, { case: 'note_capture', limit: 1 })).toHaveLength(1)
    expect(await trialHistory(store, { case: "x' OR 1=1 --" })).toEqual([])
    const indexed = await trialHistory(store, { case: 'note_capture' })
    rmSync(store.indexFile)
    mkdirSync(store.indexFile)
    expect(await trialHistory(store, { case: 'note_capture' })).toEqual(indexed)
    expect(await trialHistory(store, { case: 'note_capture', agent: 'mine', limit: 1 })).toEqual(
      found.slice(0, 1),
    )
  })
})

describe('findRun', () => {
  test('finds full ids, prefixes with and without run_, latest and blessed', () => {
    const a = ended({})
    now += 200
    const b = ended({ kind: 'task' })
    now += 86_400_000
    const c = ended({})
    expect(findRun(store, a)).toBe(a)
    expect(findRun(store, a.slice(0, -2))).toBe(a)
    expect(findRun(store, c.slice(0, 12))).toBe(c)
    expect(findRun(store, '20250701')).toBe(c)
    expect(findRun(store, 'latest')).toBe(c)
    expect(findRun(store, 'latest', { kind: 'task' })).toBe(b)
    flagRun(store, a, 'blessed', true)
    expect(findRun(store, 'blessed')).toBe(a)
    flagRun(store, b, 'blessed', true)
    expect(findRun(store, 'blessed')).toBe(b)
  })

  test('the manifests decide which of two runs in one second is the latest', () => {
    for (let round = 0; round < 5; round += 1) {
      now += 1
      const last = ended({})
      expect(findRun(store, 'latest')).toBe(last)
    }
  })

  test('an ambiguous prefix is an error that lists the candidates', () => {
    const ids = [ended({}), ended({})]
    const error = errorOf(() => findRun(store, 'run_2025'))
    expect(error.code).toBe('USAGE')
    for (const id of ids) expect(error.hint).toContain(id)
  })

  test('the error for an unknown run names the nearest or the newest run', () => {
    expect(errorOf(() => findRun(store, 'latest')).code).toBe('NOT_FOUND')
    expect(errorOf(() => findRun(store, 'blessed')).hint).toContain('bless')
    expect(errorOf(() => findRun(store, 'x')).hint).toBe('The store has no runs yet.')
    const id = ended({})
    const typo = `${id.slice(0, -1)}${id.endsWith('x') ? 'y' : 'x'}`
    expect(errorOf(() => findRun(store, typo))).toMatchObject({
      code: 'NOT_FOUND',
      hint: `Did you mean ${id}?`,
    })
    expect(errorOf(() => findRun(store, 'nonsense')).hint).toContain(id)
    expect(errorOf(() => findRun(store, '')).code).toBe('NOT_FOUND')
    expect(errorOf(() => findRun(store, '../../etc')).code).toBe('NOT_FOUND')
  })
})

function start(change: Partial<NewRun> = {}): LiveRun {
  return createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root, ...change })
}

function ended(change: Partial<NewRun>): string {
  const run = start(change)
  run.release()
  return run.id
}

async function only(): Promise<RunRow | undefined> {
  return (await listRuns(store)).runs[0]
}

function withDatabase(work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(store.indexFile)
  try {
    work(database)
  } finally {
    database.close()
  }
}

function errorOf(action: () => unknown): GantryError {
  try {
    action()
  } catch (error) {
    if (error instanceof GantryError) return error
    throw error
  }
  throw new Error('expected a GantryError')
}
