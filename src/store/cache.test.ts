import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cacheGet, cacheMaxAgeMs, cachePut, pruneCache } from './cache.ts'
import { cacheKey } from './cache-key.ts'
import type { Store } from './contract.ts'
import { openStore } from './open-store.ts'
import { sampleRecord } from './sample-record.ts'

const runId = 'run_20250630_120000_abcdef'
const key = cacheKey({ a: 1 })
let root: string
let now: number
let store: Store

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-cache-'))
  now = Date.now()
  store = openStore({ env: {}, cwd: root, root, clock: { now: () => new Date(now) } })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('the cache', () => {
  test('knows nothing at first, and makes nothing by being asked', () => {
    expect(cacheGet(store, key)).toBeNull()
    expect(readdirSync(root)).toEqual([])
  })

  test('gives a record back with the run that made it, though that run is gone', () => {
    const record = sampleRecord('a', { cacheKey: key })
    cachePut(store, key, { record, runId })
    expect(cacheGet(store, key)).toEqual({ record, runId, storedAt: new Date(now).toISOString() })
    expect(cacheGet(store, cacheKey({ a: 2 }))).toBeNull()
  })

  test('the later of two records under one key answers', () => {
    cachePut(store, key, { record: sampleRecord('a'), runId })
    cachePut(store, key, { record: sampleRecord('b'), runId })
    expect(cacheGet(store, key)?.record.id).toBe('b')
    expect(readdirSync(store.cacheDir)).toEqual([`${key}.json`])
  })

  test('forgets after thirty days', () => {
    cachePut(store, key, { record: sampleRecord('a'), runId })
    now += cacheMaxAgeMs
    expect(cacheGet(store, key)).not.toBeNull()
    now += 1
    expect(cacheGet(store, key)).toBeNull()
  })

  test.each([
    ['empty', ''],
    ['half', '{"schema_version":1,"key":"'],
    ['no object', '[]'],
    [
      'another key',
      JSON.stringify({ key: 'x', run_id: 'r', stored_at: '2025-01-01T00:00:00Z', record: sampleRecord('a') }),
    ],
    ['no record', JSON.stringify({ key, run_id: 'r', stored_at: new Date().toISOString(), record: {} })],
    ['no date', JSON.stringify({ key, run_id: 'r', stored_at: 'soon', record: sampleRecord('a') })],
  ])('a damaged entry (%s) is a miss, and can be written over', (_, content) => {
    cachePut(store, key, { record: sampleRecord('a'), runId })
    writeFileSync(join(store.cacheDir, `${key}.json`), content)
    expect(cacheGet(store, key)).toBeNull()
    cachePut(store, key, { record: sampleRecord('a'), runId })
    expect(cacheGet(store, key)).not.toBeNull()
  })

  test('a key that is no hash never becomes a path', () => {
    expect(() => cacheGet(store, '../../etc/passwd')).toThrow(TypeError)
  })

  test('pruning takes what is old, damaged or left by a killed writer, and nothing else', () => {
    const fresh = cacheKey({ n: 1 })
    const broken = cacheKey({ n: 2 })
    cachePut(store, key, { record: sampleRecord('old'), runId })
    now += cacheMaxAgeMs + 1
    cachePut(store, fresh, { record: sampleRecord('fresh'), runId })
    writeFileSync(join(store.cacheDir, `${broken}.json`), '{')
    writeFileSync(join(store.cacheDir, `${fresh}.json.abc1.tmp`), '{')
    writeFileSync(join(store.cacheDir, `${broken}.json.abc2.tmp`), '{')
    utimesSync(join(store.cacheDir, `${broken}.json.abc2.tmp`), now / 1_000, now / 1_000)
    utimesSync(join(store.cacheDir, `${fresh}.json.abc1.tmp`), now / 1_000 - 7_200, now / 1_000 - 7_200)
    writeFileSync(join(store.cacheDir, 'README'), 'mine')

    const rehearsal = pruneCache(store, { all: false, dryRun: true })
    expect(rehearsal.entries).toBe(3)
    expect(rehearsal.bytes).toBeGreaterThan(0)
    expect(readdirSync(store.cacheDir)).toHaveLength(6)
    expect(pruneCache(store, { all: false, dryRun: false })).toEqual(rehearsal)
    expect(readdirSync(store.cacheDir).sort()).toEqual(
      [`${fresh}.json`, `${broken}.json.abc2.tmp`, 'README'].sort(),
    )
    expect(pruneCache(store, { all: true, dryRun: false }).entries).toBe(1)
    expect(readdirSync(store.cacheDir).sort()).toEqual([`${broken}.json.abc2.tmp`, 'README'].sort())
  })
})
