import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleRecord } from '../../test/support/sample-record.ts'
import { GantryError } from '../core/error.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { LiveRun, Store } from './contract.ts'
import { createRun } from './create-run.ts'
import { flagRun } from './flag-run.ts'
import { openRun } from './open-run.ts'
import { openStore } from './open-store.ts'
import { resumeRun } from './resume-run.ts'

let root: string
let store: Store

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-store-'))
  store = openStore({ env: {}, cwd: root, root: join(root, 'store') })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('openStore', () => {
  test('takes AGENT_ARTIFACT_DIR, expands ~, and falls back to the home directory', () => {
    const at = (env: Record<string, string>): string => openStore({ env, cwd: '/somewhere' }).root
    expect(at({ AGENT_ARTIFACT_DIR: '/a/b' })).toBe('/a/b')
    expect(at({ AGENT_ARTIFACT_DIR: 'rel' })).toBe('/somewhere/rel')
    expect(at({ AGENT_ARTIFACT_DIR: '~/x', HOME: '/home/me' })).toBe('/home/me/x')
    expect(at({ AGENT_ARTIFACT_DIR: '~', HOME: '/home/me' })).toBe('/home/me')
    expect(at({ AGENT_ARTIFACT_DIR: '', HOME: '/home/me' })).toBe('/home/me/.agent-artifacts')
    expect(at({ HOME: '/home/me' })).toBe('/home/me/.agent-artifacts')
  })

  test('creates nothing', () => {
    expect(existsSync(store.root)).toBe(false)
  })
})

describe('a run', () => {
  test('begins with a manifest of what runs, where and on what', () => {
    const run = start({ agents: { mine: '1.2.3' }, target: 'tool 4', commit_sha: 'abc', dirty: true })
    const manifest = run.manifest()
    expect(manifest).toMatchObject({
      schema_version: 1,
      run_id: run.id,
      kind: 'scenario',
      title: 'two scenarios',
      status: 'running',
      timestamp_end: null,
      commit_sha: 'abc',
      dirty: true,
      argv: ['gantry', 'test'],
      flags: { pinned: false, blessed: false, stuck: false },
      resumed_at: [],
      totals: null,
    })
    expect(manifest.versions).toMatchObject({
      node: process.versions.node,
      agents: { mine: '1.2.3' },
      target: 'tool 4',
    })
    expect(manifest.platform.os).toBe(process.platform)
    expect(manifest.platform.memory_bytes).toBeGreaterThan(0)
    expect(run.id).toMatch(/^run_\d{8}_\d{6}_[a-z0-9]{6}$/)
    run.release()
  })

  test('is in a store that only this user can enter', () => {
    start().release()
    expect(statSync(store.root).mode & 0o777).toBe(0o700)
    expect(statSync(store.runsDir).mode & 0o777).toBe(0o700)
  })

  test('ends with totals, a summary and lines in results.jsonl', async () => {
    const run = start()
    run.writePlan({ trials: ['a', 'b', 'c', 'd'].map((id) => ({ id })) })
    run.finishTrial(sampleRecord('a'))
    run.finishTrial(sampleRecord('b', { verdict: 'fail', costUsd: null }))
    run.finishTrial(sampleRecord('c', { cachedFrom: 'run_20250101_000000_abcdef' }))
    await run.end({ status: 'partial' })
    expect(run.manifest()).toMatchObject({
      status: 'partial',
      refers_to: ['run_20250101_000000_abcdef'],
      totals: {
        trials: 3,
        counts: { pass: 2, fail: 1, infra: 0, invalid: 0 },
        not_run: 1,
        cached: 1,
        cost_usd: 0.25,
        unmetered_trials: 1,
      },
    })
    const lines = readFileSync(store.resultsFile, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ kind, trial_id }) => [kind, trial_id])).toEqual([
      ['trial', 'a'],
      ['trial', 'b'],
      ['trial', 'c'],
      ['run', undefined],
    ])
  })

  test('returns its trials in plan order, regardless of the order they finished in', async () => {
    const run = start()
    run.writePlan({ trials: ['a', 'b', 'c'].map((id) => ({ id })) })
    for (const id of ['c', 'extra', 'a', 'b']) run.finishTrial(sampleRecord(id))
    expect(await idsOf(run)).toEqual(['a', 'b', 'c', 'extra'])
    run.release()
  })

  test('returns a record exactly as stored, except for its current path', async () => {
    const run = start()
    const record = sampleRecord('a', {
      reason: 'ümläut \u2028 "quoted" \\ \n🚀',
      judge: null,
      warnings: ['x'],
    })
    run.openTrial('a')
    run.finishTrial(record)
    run.release()
    const [back] = await trialsOf(openRun(store, run.id))
    expect(back).toEqual({ ...record, dir: run.trialDir('a') })
    const moved = join(root, 'elsewhere')
    mkdirSync(join(moved, 'runs'), { recursive: true })
    renameSync(run.dir, join(moved, 'runs', run.id))
    const [there] = await trialsOf(openRun(openStore({ env: {}, cwd: root, root: moved }), run.id))
    expect(there?.dir).toBe(join(moved, 'runs', run.id, 'trials', 'a'))
  })

  test('stores stages inside a trial', () => {
    const run = start()
    expect(run.checkpointOf('a', 'agent')).toBeUndefined()
    run.checkpoint('a', 'agent', { done: true })
    run.checkpoint('a', 'judge-1', [0.5])
    run.release()
    const again = resumeRun(store, run.id)
    expect(again.checkpointOf('a', 'agent')).toEqual({ done: true })
    expect(again.checkpointOf('a', 'judge-1')).toEqual([0.5])
    expect(again.checkpointOf('a', 'judge-2')).toBeUndefined()
    again.release()
  })

  test('stores each input content once, under any name', () => {
    const run = start()
    const first = run.freeze('scenarios/../a b.yaml', 'one')
    const same = run.freeze('other.yaml/../a b.yaml', 'one')
    expect(same.path).toBe(first.path)
    expect(first.path.startsWith(join(run.dir, 'inputs'))).toBe(true)
    run.freeze('x.yaml', 'old')
    run.freeze('x.yaml', new TextEncoder().encode('new'))
    const inputs = openRun(store, run.id).inputs()
    expect([...inputs.keys()]).toEqual(['scenarios/../a b.yaml', 'other.yaml/../a b.yaml', 'x.yaml'])
    expect(readFileSync(inputs.get('x.yaml')?.path ?? '', 'utf8')).toBe('new')
    run.release()
  })

  test.each(['../x', 'a/b', '', '.', '..', 'a\0', `${'a'.repeat(151)}`, 'ä'])(
    'refuses the trial id %j',
    (id) => {
      const run = start()
      expect(errorOf(() => run.openTrial(id)).code).toBe('UNSAFE_PATH')
      expect(errorOf(() => run.finishTrial(sampleRecord(id))).code).toBe('UNSAFE_PATH')
      expect(errorOf(() => run.checkpoint(id, 'x', 1)).code).toBe('UNSAFE_PATH')
      expect(errorOf(() => run.writePlan({ trials: [{ id }] })).code).toBe('UNSAFE_PATH')
      run.release()
    },
  )

  test('merges changes into its manifest and keeps a flag set meanwhile', async () => {
    const run = start({ details: { seed: 1 }, agents: { a: '1' } })
    run.change({
      details: { jobs: 2 },
      agents: { b: '2' },
      refers_to: ['run_20250101_000000_abcdef', run.id],
    })
    flagRun(store, run.id, 'pinned', true, 'for the talk')
    await run.end({ status: 'pass', change: { container_image: 'img' } })
    const manifest = run.manifest()
    expect(manifest.details).toEqual({ seed: 1, jobs: 2 })
    expect(manifest.versions.agents).toEqual({ a: '1', b: '2' })
    expect(manifest.flags.pinned).toBe(true)
    expect(manifest.flag_reasons).toEqual({ pinned: 'for the talk' })
    expect(manifest.refers_to).toEqual(['run_20250101_000000_abcdef'])
    expect(manifest.platform.container_image).toBe('img')
    expect(flagRun(store, run.id, 'pinned', false).flag_reasons).toEqual({})
  })

  test('writes events, logs and reports into their directories', () => {
    const run = start()
    run.appendEvent({ event: 'note', message: 'one' })
    run.appendEvent({ event: 'note', message: 'two' })
    expect(readFileSync(join(run.dir, 'events.jsonl'), 'utf8')).toBe(
      '{"event":"note","message":"one"}\n{"event":"note","message":"two"}\n',
    )
    writeFileSync(run.logPath('step-1.log'), '')
    writeFileSync(run.reportPath('junit.xml'), '')
    expect(existsSync(join(run.dir, 'logs', 'step-1.log'))).toBe(true)
    expect(existsSync(join(run.dir, 'reports', 'junit.xml'))).toBe(true)
    expect(errorOf(() => run.logPath('../escape')).code).toBe('UNSAFE_PATH')
    run.release()
  })

  test('many runs in one second never share a directory', () => {
    const still = openStore({
      env: {},
      cwd: root,
      root,
      clock: { now: () => new Date('2025-06-30T12:00:00Z') },
    })
    const runs = Array.from({ length: 40 }, () =>
      createRun(still, { kind: 'task', title: 't', argv: [], cwd: root }),
    )
    expect(new Set(runs.map(({ dir }) => dir)).size).toBe(40)
    for (const run of runs) run.release()
  })
})

describe('resuming', () => {
  test('knows finished trials, continues, and adds up the time', async () => {
    let now = Date.parse('2025-06-30T12:00:00Z')
    const timed = openStore({ env: {}, cwd: root, root, clock: { now: () => new Date(now) } })
    const run = createRun(timed, { kind: 'scenario', title: 't', argv: [], cwd: root })
    run.writePlan({ trials: ['a', 'b'].map((id) => ({ id })) })
    run.finishTrial(sampleRecord('a'))
    now += 1_000
    await run.end({ status: 'interrupted' })
    now += 3_600_000
    const again = resumeRun(timed, run.id)
    expect([...again.finished]).toEqual(['a'])
    expect(again.plan()?.trials).toEqual([{ id: 'a' }, { id: 'b' }])
    expect(again.manifest()).toMatchObject({ status: 'running', timestamp_end: null })
    again.finishTrial(sampleRecord('b'))
    now += 2_000
    await again.end({ status: 'pass' })
    expect(again.manifest()).toMatchObject({
      status: 'pass',
      resumed_at: ['2025-06-30T13:00:01.000Z'],
      totals: { trials: 2, not_run: 0, duration_ms: 3_000 },
    })
    const lines = readFileSync(timed.resultsFile, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.filter(({ kind }) => kind === 'trial').map(({ trial_id }) => trial_id)).toEqual(['a', 'b'])
  })

  test('a live run is locked, and the error names the process', () => {
    const run = start()
    const error = errorOf(() => resumeRun(store, run.id))
    expect(error.code).toBe('LOCKED')
    expect(error.message).toContain(`process ${process.pid}`)
    run.release()
    resumeRun(store, run.id).release()
  })

  test('trusts the results when the log is torn, lacks lines, or lists a trial without a result', async () => {
    const run = start()
    run.writePlan({ trials: ['a', 'b', 'c', 'd'].map((id) => ({ id })) })
    for (const id of ['a', 'b', 'c']) run.finishTrial(sampleRecord(id))
    run.release()
    const log = join(run.dir, 'trials.jsonl')
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    // b's line is torn, c's is missing, and a's result was damaged later.
    writeFileSync(log, `${lines[0]}\n${lines[1]?.slice(0, 100)}`)
    writeFileSync(join(run.dir, 'trials', 'a', 'result.json'), '{"id":"a","verd')
    expect(await idsOf(openRun(store, run.id))).toEqual(['a', 'b', 'c'])
    const again = resumeRun(store, run.id)
    expect([...again.finished].sort()).toEqual(['b', 'c'])
    again.finishTrial(sampleRecord('d'))
    expect(await idsOf(again)).toEqual(['b', 'c', 'd'])
    const repaired = readFileSync(log, 'utf8').trimEnd().split('\n').slice(2)
    expect(repaired).toEqual([
      lines[1],
      lines[2],
      '{"id":"a","discarded":true}',
      expect.stringContaining('{"id":"d"'),
    ])
    again.release()
  })

  test('a discarded trial is no longer finished and can be repeated', async () => {
    const run = start()
    run.openTrial('a')
    run.finishTrial(sampleRecord('a', { verdict: 'infra' }))
    run.discardTrial('a')
    run.discardTrial('never-there')
    expect(existsSync(run.trialDir('a'))).toBe(false)
    expect(await idsOf(run)).toEqual([])
    run.finishTrial(sampleRecord('a', { verdict: 'pass' }))
    const [record] = await trialsOf(run)
    expect(record?.verdict).toBe('pass')
    await run.end({ status: 'pass' })
    expect(run.manifest().totals).toMatchObject({ trials: 1, counts: { pass: 1, infra: 0 } })
  })

  test('foreign files in a run directory are ignored', async () => {
    const run = start()
    run.finishTrial(sampleRecord('a'))
    run.release()
    writeFileSync(join(run.dir, 'trials', 'notes.txt'), 'mine')
    writeFileSync(join(run.dir, 'trials', '.DS_Store'), '')
    mkdirSync(join(run.dir, 'trials', 'empty'))
    mkdirSync(join(run.dir, 'trials', 'strange name'))
    mkdirSync(join(run.dir, 'mine'))
    expect(await idsOf(openRun(store, run.id))).toEqual(['a'])
    const again = resumeRun(store, run.id)
    expect([...again.finished]).toEqual(['a'])
    again.release()
  })

  test.each(['run_20250101_000000_abcdef', '../runs', 'latest', ''])('refuses to open %j', (id) => {
    expect(errorOf(() => openRun(store, id)).code).toBe('NOT_FOUND')
    expect(errorOf(() => resumeRun(store, id)).code).toBe('NOT_FOUND')
  })

  test('a damaged manifest or result is reported as damaged', async () => {
    const run = start()
    run.finishTrial(sampleRecord('a'))
    run.release()
    rmSync(join(run.dir, 'trials.jsonl'))
    writeFileSync(join(run.dir, 'trials', 'a', 'result.json'), '{')
    await expect(trialsOf(openRun(store, run.id))).rejects.toMatchObject({ code: 'CORRUPT' })
    writeFileSync(join(run.dir, 'manifest.json'), '{"schema_version":1}')
    expect(errorOf(() => openRun(store, run.id).manifest()).code).toBe('CORRUPT')
    expect(errorOf(() => resumeRun(store, run.id)).code).toBe('CORRUPT')
    // The lock was released.
    expect(errorOf(() => resumeRun(store, run.id)).code).toBe('CORRUPT')
  })
})

function start(change: Partial<Parameters<typeof createRun>[1]> = {}): LiveRun {
  return createRun(store, {
    kind: 'scenario',
    title: 'two scenarios',
    argv: ['gantry', 'test'],
    cwd: root,
    ...change,
  })
}

async function trialsOf(run: { trials(): AsyncIterable<TrialRecord> }): Promise<TrialRecord[]> {
  const records: TrialRecord[] = []
  for await (const record of run.trials()) records.push(record)
  return records
}

async function idsOf(run: { trials(): AsyncIterable<TrialRecord> }): Promise<string[]> {
  return (await trialsOf(run)).map(({ id }) => id)
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
