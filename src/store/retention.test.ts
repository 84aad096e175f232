import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleRecord } from '../../test/support/sample-record.ts'
import { applyRetention } from './apply-retention.ts'
import type { Store } from './contract.ts'
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
  test('twenty-five runs become twenty, the oldest go, and a run past its age goes in any case', () => {
    const old = run(15)
    const ids = Array.from({ length: 25 }, (_, index) => run(1 + index / 100))
    const outcome = applyRetention(store)
    expect(outcome.removed.map(({ id }) => id)).toEqual([old, ...ids.slice(20).reverse()])
    expect(outcome.removed[0]?.reason).toBe('age')
    expect(left().sort()).toEqual(ids.slice(0, 20).sort())
    expect(outcome.freedBytes).toBe(0)
    expect(applyRetention(store).removed).toEqual([])
  })

  test('keeps what is pinned, blessed, stuck, live or leant on, and says why', () => {
    const leant = run(40)
    const [pinned, blessed, stuck] = [run(41), run(42, { refers_to: [leant] }), run(43)]
    flagRun(store, pinned, 'pinned', true)
    flagRun(store, blessed, 'blessed', true)
    flagRun(store, stuck, 'stuck', true)
    now = present - 44 * day
    const live = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
    now = present
    const gone = run(45)
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

  test('leaves alone what is no run, cleans runs of older tools, and keeps a run whose flags cannot be read', () => {
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
    const damaged = run(50)
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

  test('never follows a link out of a run directory, nor a run directory that is a link', () => {
    const precious = join(root, 'precious')
    mkdirSync(join(precious, 'deep'), { recursive: true })
    writeFileSync(join(precious, 'deep', 'file'), 'keep me')
    const id = run(20)
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

  test('a rehearsal tells the same and removes nothing', () => {
    const id = run(20)
    const rehearsal = applyRetention(store, { dryRun: true, thorough: true })
    expect(existsSync(join(store.runsDir, id))).toBe(true)
    expect(rehearsal.freedBytes).toBeGreaterThan(0)
    expect(applyRetention(store, { thorough: true })).toEqual(rehearsal)
  })

  test('finishes what a killed cleaner began', () => {
    mkdirSync(join(store.runsDir, '.trash-run_20250101_120000_abcdef-x1y2z3', 'trials'), { recursive: true })
    const outcome = applyRetention(store, { thorough: true })
    expect(left()).toEqual([])
    expect(outcome.freedBytes).toBeGreaterThan(0)
  })

  test('the run that has just ended is not cleaned away by its own end', () => {
    const others = Array.from({ length: 20 }, (_, index) => run(2 + index / 100))
    for (const id of others) flagRun(store, id, 'pinned', true)
    const mine = run(0)
    const outcome = applyRetention(store, { protect: [mine] })
    expect(outcome.removed).toEqual([])
    expect(outcome.kept.find(({ id }) => id === mine)?.reason).toBe('protected')
  })

  test('a run that was taken up after the plan was made is not removed', () => {
    const id = run(20)
    const live = resumeRun(store, id)
    expect(removeRun(store, id)).toBe('live')
    live.finishTrial(sampleRecord('b'))
    live.release()
    expect(removeRun(store, id)).toBe('removed')
    expect(removeRun(store, id)).toBe('gone')
    expect(left()).toEqual([])
  })

  test('an empty store stays untouched', () => {
    expect(applyRetention(store, { thorough: true })).toMatchObject({ removed: [], kept: [], failed: [] })
    expect(existsSync(store.root)).toBe(false)
  })
})

function run(ageDays: number, change: { readonly refers_to?: readonly string[] } = {}): string {
  now = present - ageDays * day
  const live = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root, ...change })
  live.finishTrial(sampleRecord('a'))
  live.release()
  now = present
  return live.id
}

function left(): string[] {
  return readdirSync(store.runsDir, { withFileTypes: true })
    .filter((entry) => !entry.isFile())
    .map(({ name }) => name)
}
