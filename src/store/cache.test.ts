import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleRecord } from '../../test/support/sample-record.ts'
import { cacheGet, cacheKey, cacheMaxAgeMs, cachePut, pruneCache } from './cache.ts'
import type { Store } from './contract.ts'
import { openStore } from './open-store.ts'

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
  test('is empty at first, and a read creates nothing', () => {
    expect(cacheGet(store, key)).toBeNull()
    expect(readdirSync(root)).toEqual([])
  })

  test('returns a record with the run that made it, even if that run is deleted', () => {
    const record = sampleRecord('a', { cacheKey: key })
    cachePut(store, key, { record, runId })
    expect(cacheGet(store, key)).toEqual({ record, runId, storedAt: new Date(now).toISOString() })
    expect(cacheGet(store, cacheKey({ a: 2 }))).toBeNull()
  })

  test('returns the later of two records under one key', () => {
    cachePut(store, key, { record: sampleRecord('a'), runId })
    cachePut(store, key, { record: sampleRecord('b'), runId })
    expect(cacheGet(store, key)?.record.id).toBe('b')
    expect(readdirSync(store.cacheDir)).toEqual([`${key}.json`])
  })

  test('expires records after thirty days', () => {
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
  ])('a damaged entry (%s) is a miss and can be overwritten', (_, content) => {
    cachePut(store, key, { record: sampleRecord('a'), runId })
    writeFileSync(join(store.cacheDir, `${key}.json`), content)
    expect(cacheGet(store, key)).toBeNull()
    cachePut(store, key, { record: sampleRecord('a'), runId })
    expect(cacheGet(store, key)).not.toBeNull()
  })

  test('a key that is not a hash never becomes a path', () => {
    expect(() => cacheGet(store, '../../etc/passwd')).toThrow(TypeError)
  })

  test('pruning removes only old, damaged and abandoned files', () => {
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

const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>
const parts = fc.dictionary(fc.string(), value)

describe('cacheKey', () => {
  test('is a SHA-256 in hexadecimal, and stays the same between releases', () => {
    expect(cacheKey({ b: [1, 'é', null], a: { d: true, c: 0.5 } })).toBe(
      'f993b89d90bcfb7fe89fd12dfdb596894ae54f145ad09b73ad79017aae3b3646',
    )
  })

  test('does not depend on the order of keys at any depth', () => {
    fc.assert(
      fc.property(parts, (original) => {
        expect(cacheKey(shuffled(original) as Record<string, unknown>)).toBe(cacheKey(original))
      }),
    )
  })

  test('two sets of parts share a key only when they are equal', () => {
    fc.assert(
      fc.property(parts, parts, (left, right) => {
        const equal = isDeepEqual(left, right)
        expect(cacheKey(left) === cacheKey(right)).toBe(equal)
      }),
    )
  })

  test('changes with any value', () => {
    fc.assert(
      fc.property(parts, fc.string(), value, value, (rest, key, before, after) => {
        fc.pre(!isDeepEqual(before, after))
        expect(cacheKey({ ...rest, [key]: before })).not.toBe(cacheKey({ ...rest, [key]: after }))
      }),
    )
  })

  test('changes when text moves from one part to the next', () => {
    expect(cacheKey({ a: 'xy', b: 'z' })).not.toBe(cacheKey({ a: 'x', b: 'yz' }))
    expect(cacheKey({ a: ['x', 'y'] })).not.toBe(cacheKey({ a: ['x,y'] }))
    expect(cacheKey({ a: 1 })).not.toBe(cacheKey({ a: '1' }))
  })

  test('treats an undefined part as absent', () => {
    expect(cacheKey({ a: 1, b: undefined })).toBe(cacheKey({ a: 1 }))
  })

  test.each([[NaN], [Infinity], [() => 1], [Symbol('x')], [10n], [new Map()], [new Date(0)], [[undefined]]])(
    'refuses %s, which JSON would flatten',
    (bad) => {
      expect(() => cacheKey({ bad })).toThrow(TypeError)
    },
  )
})

/** Equality of JSON: minus zero is zero. */
function isDeepEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
}

function sorted(input: unknown): unknown {
  return rebuilt(input, (keys) => keys.sort())
}

function shuffled(input: unknown): unknown {
  return rebuilt(input, (keys) => keys.sort().reverse())
}

function rebuilt(input: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(input)) return input.map((item) => rebuilt(item, order))
  if (typeof input !== 'object' || input === null) return input
  const entries = new Map<string, unknown>(Object.entries(input))
  const result: Record<string, unknown> = Object.create(null)
  for (const key of order([...entries.keys()])) result[key] = rebuilt(entries.get(key), order)
  return result
}
