import { join } from 'node:path'
import { asObject, parseJson } from '../core/json-fields.ts'
import type { TrialRecord } from '../core/trial.ts'
import { modifiedAtMs, namesIn, readTextIfExists, treeBytes } from '../io/directory.ts'
import { removeTree, writeFileAtomic } from '../io/files.ts'
import { makePrivateDirectories } from '../io/private-files.ts'
import { sha256 } from '../io/sha256.ts'
import type { CachedRecord, Store } from './contract.ts'
import { isRecord } from './trial-record.ts'

/** How long a cached record may replace a trial. */
export const cacheMaxAgeMs = 30 * 86_400_000

/** The record under the key; null when it is missing, too old or damaged. */
export function cacheGet(store: Store, key: string): CachedRecord | null {
  const text = readTextIfExists(entryPath(store, key))
  const entry = text === null ? null : parseEntry(text, key)
  if (entry === null) return null
  const ageMs = store.clock.now().getTime() - Date.parse(entry.storedAt)
  return ageMs <= cacheMaxAgeMs ? entry : null
}

/** Stores a record under the key. Of two concurrent writes one wins completely. */
export function cachePut(
  store: Store,
  key: string,
  { record, runId }: { readonly record: TrialRecord; readonly runId: string },
): void {
  const entry = { schema_version: 1, key, run_id: runId, stored_at: store.clock.now().toISOString(), record }
  makePrivateDirectories(store.cacheDir)
  writeFileAtomic(entryPath(store, key), `${JSON.stringify(entry)}\n`)
}

/** Removes expired and damaged entries and files of killed writers; with `all` everything. */
export function pruneCache(
  store: Store,
  { all, dryRun }: { readonly all: boolean; readonly dryRun: boolean },
): { readonly entries: number; readonly bytes: number } {
  let entries = 0
  let bytes = 0
  for (const name of namesIn(store.cacheDir)) {
    const key = /^([0-9a-f]{64})\.json/.exec(name)?.[1]
    if (key === undefined) continue
    const path = join(store.cacheDir, name)
    const whole = name === `${key}.json`
    if (whole ? !all && cacheGet(store, key) !== null : isBeingWritten(store, path)) continue
    entries += 1
    bytes += treeBytes(path)
    if (!dryRun) removeTree(path)
  }
  return { entries, bytes }
}

function isBeingWritten(store: Store, path: string): boolean {
  const modifiedMs = modifiedAtMs(path)
  return modifiedMs !== null && store.clock.now().getTime() - modifiedMs < 3_600_000
}

function entryPath(store: Store, key: string): string {
  if (!/^[0-9a-f]{64}$/.test(key)) throw new TypeError(`not a cache key: ${JSON.stringify(key)}`)
  return join(store.cacheDir, `${key}.json`)
}

function parseEntry(text: string, key: string): CachedRecord | null {
  const value = asObject(parseJson(text))
  if (value?.key !== key) return null
  const { run_id: runId, stored_at: storedAt, record } = value
  if (typeof runId !== 'string' || typeof storedAt !== 'string') return null
  if (Number.isNaN(Date.parse(storedAt)) || !isRecord(record)) return null
  return { record, runId, storedAt }
}

/**
 * Name of a cache entry: SHA-256 over the parts as canonical JSON, independent of the order of keys. An undefined value counts as
 * absent. Throws TypeError for values that JSON cannot represent (NaN, functions, Maps …), because a key that ignored them would
 * return a stale record.
 */
export function cacheKey(parts: Readonly<Record<string, unknown>>): string {
  return sha256(canonicalJson(parts))
}

function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${Array.from(value, canonicalJson).join(',')}]`
  if (isPlainObject(value)) return canonicalObject(value)
  throw new TypeError(`a cache key cannot contain ${describe(value)}`)
}

function canonicalObject(value: Readonly<Record<string, unknown>>): string {
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
  return `{${members.join(',')}}`
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'object' ? 'an object of a class' : `a value of type ${typeof value}`
}
