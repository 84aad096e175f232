import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleRecord } from '../../test/support/sample-record.ts'
import { applyRetention, cleanAfterRun } from './apply-retention.ts'
import type { NewRun, Store } from './contract.ts'
import { createRun } from './create-run.ts'
import { flagRun } from './flag-run.ts'
import { openStore } from './open-store.ts'
import { removeRun } from './remove-run.ts'
import { resumeRun } from './resume-run.ts'

const day = 86_400_000
const present = Date.parse('2025-06-30T12:00:00Z')
let root: string
let now: number
let store: Store

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-retention-'))
  now = present
  store = openStore({ env: {}, cwd: root, root: join(root, 'store'), clock: { now: () => new Date(now) } })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('applyRetention', () => {
  test('removes the oldest five of twenty-five runs, and any run over the age limit', async () => {
    const old = await run(15)
    const ids = await runs(25, 1)
    const outcome = applyRetention(store)
    expect(outcome.removed.map(({ id }) => id)).toEqual([old, ...ids.slice(20).reverse()])
    expect(outcome.removed[0]?.reason).toBe('age')
    expect(left().sort()).toEqual(ids.slice(0, 20).sort())
    expect(outcome.freedBytes).toBe(0)
    expect(applyRetention(store).removed).toEqual([])
  })

  test('keeps pinned, blessed, stuck, live and referenced runs, and gives the reason', async () => {
    const leant = await run(40)
    const [pinned, blessed, stuck] = [await run(41), await run(42, { refers_to: [leant] }), await run(43)]
    flagRun(store, pinned, 'pinned', true)
    flagRun(store, blessed, 'blessed', true)
    flagRun(store, stuck, 'stuck', true)
    now = present - 44 * day
    const live = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
    now = present
    const gone = await run(45)
    const outcome = applyRetention(store)
    expect(outcome.removed.map(({ id }) => id)).toEqual([gone])
    expect(Object.fromEntries(outcome.kept.map(({ id, reason }) => [id, reason]))).toEqual({
      [leant]: 'referenced',
      [pinned]: 'pinned',
      [blessed]: 'blessed',
      [stuck]: 'stuck',
      [live.id]: 'live',
    })
    live.release()
    expect(applyRetention(store).removed.map(({ id }) => id)).toEqual([live.id])
  })

  test('stuck tasks take no room from others, and a task of the last day keeps its verifications', async () => {
    const stuck = await runs(24, 2)
    for (const id of stuck) flagRun(store, id, 'stuck', true)
    const proof = await run(0.9, { kind: 'verify', refers_to: [await run(0.95, { kind: 'task' })] })
    const older = await run(1.5, { kind: 'verify', refers_to: [proof] })
    const others = await runs(20, 0.1)
    expect(applyRetention(store).removed.map(({ id }) => id)).toEqual([older])
    expect(left()).toHaveLength(46)
    expect(left()).toEqual(expect.arrayContaining([...stuck, proof, ...others]))
  })

  test('ignores other files, removes runs of older tools, and keeps a run with unreadable flags', async () => {
    mkdirSync(join(store.runsDir, 'my notes'), { recursive: true })
    mkdirSync(join(store.runsDir, 'run_20250230_120000_abcdef'))
    writeFileSync(join(store.runsDir, 'run_20200101_120000_aaaaaa'), 'a file')
    for (const id of [
      'run-20200101-120000-123',
      '20200101-120000-tool-model-case',
      'run_20200101_120000_abcdef',
    ]) {
      mkdirSync(join(store.runsDir, id))
    }
    const foreign = 'run_20200101_120000_foreig'
    mkdirSync(join(store.runsDir, foreign))
    writeFileSync(
      join(store.runsDir, foreign, 'manifest.json'),
      JSON.stringify({ run_id: foreign, status: 'PASS' }),
    )
    const damaged = await run(50)
    writeFileSync(join(store.runsDir, damaged, 'manifest.json'), '{"flags":')
    const outcome = applyRetention(store)
    expect(outcome.removed.map(({ id }) => id).sort()).toEqual([
      '20200101-120000-tool-model-case',
      'run-20200101-120000-123',
      'run_20200101_120000_abcdef',
      foreign,
    ])
    expect(outcome.kept).toEqual([{ id: damaged, reason: 'damaged' }])
    expect(readdirSync(store.runsDir).sort()).toEqual([
      'my notes',
      'run_20200101_120000_aaaaaa',
      'run_20250230_120000_abcdef',
      damaged,
    ])
    applyRetention(store, { everything: true })
    expect(left()).toEqual(['my notes', 'run_20250230_120000_abcdef'])
  })

  test('never follows a link out of a run directory, nor a run directory that is a link', async () => {
    const precious = join(root, 'precious')
    mkdirSync(join(precious, 'deep'), { recursive: true })
    writeFileSync(join(precious, 'deep', 'file'), 'keep me')
    const id = await run(20)
    symlinkSync(precious, join(store.runsDir, id, 'link'))
    symlinkSync(join(precious, 'deep', 'file'), join(store.runsDir, id, 'trials', 'file-link'))
    symlinkSync('/nowhere', join(store.runsDir, id, 'dangling'))
    symlinkSync(precious, join(store.runsDir, 'run_20200101_120000_abcdef'))
    const outcome = applyRetention(store, { thorough: true })
    expect(outcome.removed).toHaveLength(2)
    expect(left()).toEqual([])
    expect(readdirSync(precious)).toEqual(['deep'])
    expect(readFileSync(join(precious, 'deep', 'file'), 'utf8')).toBe('keep me')
  })

  test('a dry run reports the same and removes nothing', async () => {
    const id = await run(20)
    const rehearsal = applyRetention(store, { dryRun: true, thorough: true })
    expect(existsSync(join(store.runsDir, id))).toBe(true)
    expect(rehearsal.freedBytes).toBeGreaterThan(0)
    expect(applyRetention(store, { thorough: true })).toEqual(rehearsal)
  })

  test('finishes the work of a killed cleaner', async () => {
    const trash = join(store.runsDir, '.trash-run_20250101_120000_abcdef-x1y2z3')
    mkdirSync(join(trash, 'trials'), { recursive: true })
    // Directories have no size in every file system.
    writeFileSync(join(trash, 'manifest.json'), '{}')
    const outcome = applyRetention(store, { thorough: true })
    expect(left()).toEqual([])
    expect(outcome.freedBytes).toBeGreaterThan(0)
  })

  test('the end of a run does not remove the run itself', async () => {
    const others = await runs(20, 2)
    for (const id of others) flagRun(store, id, 'pinned', true)
    const mine = await run(0)
    const outcome = applyRetention(store, { protect: [mine] })
    expect(outcome.removed).toEqual([])
    expect(outcome.kept.find(({ id }) => id === mine)?.reason).toBe('protected')
  })

  test('a run resumed after planning is not removed', async () => {
    const id = await run(20)
    const live = resumeRun(store, id)
    expect(removeRun(store, id)).toBe('live')
    live.finishTrial(sampleRecord('b'))
    live.release()
    expect(removeRun(store, id)).toBe('removed')
    expect(removeRun(store, id)).toBe('gone')
    expect(left()).toEqual([])
  })

  test('three runs from the cache do not remove a run that cost money, one that took long, or one that was killed', async () => {
    const paid = await run(3, { costUsd: 2.98 })
    const long = await run(3.1, { durationMs: 60_000 })
    now = present - 3.2 * day
    const killed = createRun(store, { kind: 'plugin', title: 't', argv: [], cwd: root })
    killed.release()
    now = present
    const free = await runs(23, 1)
    const outcome = applyRetention(store, { dryRun: true })
    expect(outcome.removed.map(({ id }) => id)).toEqual(free.slice(20).reverse())
    expect(outcome.kept.slice(0, 3)).toEqual([
      { id: killed.id, reason: 'unfinished' },
      { id: long, reason: 'long' },
      { id: paid, reason: 'paid' },
    ])
    expect(applyRetention(store, { policy: { maxAgeMs: null, maxRuns: 0 } }).removed).toHaveLength(23)
    applyRetention(store, { policy: { maxAgeMs: null, maxRuns: 0 }, everything: true })
    expect(left()).toEqual([])
  })

  test('the time before a kill counts after the run was resumed', async () => {
    now = present - day
    const live = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
    live.finishTrial(sampleRecord('a', { costUsd: 0 }))
    live.release()
    const killedAt = new Date(now + 120_000)
    utimesSync(join(live.dir, 'trials.jsonl'), killedAt, killedAt)
    now += 180_000
    const again = resumeRun(store, live.id)
    now += 1_000
    await again.end({ status: 'pass' })
    now = present
    expect(again.manifest().totals?.duration_ms).toBe(121_000)
    applyRetention(store, { policy: { maxAgeMs: null, maxRuns: 0 } })
    expect(left()).toEqual([live.id])
  })

  test('counts money that no record of a trial has', async () => {
    now = present - day
    const live = createRun(store, { kind: 'task', title: 't', argv: [], cwd: root })
    await live.end({ status: 'fail', costUsd: 0.4 })
    now = present
    expect(live.manifest().totals?.cost_usd).toBe(0.4)
    applyRetention(store, { policy: { maxAgeMs: null, maxRuns: 0 } })
    expect(left()).toEqual([live.id])
  })

  test('unknown cost is not zero, except where nothing could cost anything', async () => {
    const unmetered = await run(2, { costUsd: null })
    await run(3, { costUsd: null, details: { free: true } })
    applyRetention(store, { policy: { maxAgeMs: null, maxRuns: 0 } })
    expect(left()).toEqual([unmetered])
  })

  test('the runs of the current command stay together', async () => {
    const earlier = await run(3)
    const own = await runs(25, 1)
    const sinceMs = present - 1.5 * day
    const { removed } = applyRetention(store, { sinceMs, dryRun: true })
    expect(removed).toEqual([])
    expect(left().sort()).toEqual([earlier, ...own].sort())
  })

  test('the end of a run says which runs it removed, and why', async () => {
    const old = await run(15)
    const free = await runs(21, 1)
    expect(cleanAfterRun(store)).toEqual([
      `removed 1 stored run older than 14d: ${old}`,
      `removed 1 stored run that cost nothing, above the limit of 20: ${free.at(-1)}`,
    ])
    expect(cleanAfterRun(store)).toEqual([])
    // Every run above the limit removes one: that is said once a day.
    await run(0.5)
    expect(cleanAfterRun(store)).toEqual([])
    expect(left()).toHaveLength(20)
  })

  test('an empty store stays unchanged', async () => {
    expect(applyRetention(store, { thorough: true })).toMatchObject({ removed: [], kept: [], failed: [] })
    expect(existsSync(store.root)).toBe(false)
  })
})

/** Runs that cost nothing, newest first. */
async function runs(count: number, ageDays: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) ids.push(await run(ageDays + index / 100))
  return ids
}

/** An ended run that cost nothing, unless `change` says otherwise. */
async function run(
  ageDays: number,
  {
    costUsd = 0,
    durationMs = 0,
    ...change
  }: Partial<Pick<NewRun, 'kind' | 'refers_to' | 'details'>> & {
    readonly costUsd?: number | null
    readonly durationMs?: number
  } = {},
): Promise<string> {
  now = present - ageDays * day
  const live = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root, ...change })
  live.finishTrial(sampleRecord('a', { costUsd }))
  now += durationMs
  await live.end({ status: 'pass' })
  now = present
  return live.id
}

function left(): string[] {
  return readdirSync(store.runsDir, { withFileTypes: true })
    .filter((entry) => !entry.isFile())
    .map(({ name }) => name)
}
