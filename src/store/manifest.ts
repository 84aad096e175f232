import { GantryError } from '../core/error.ts'
import { isObject, parseJson } from '../core/json-fields.ts'
import { version } from '../core/version.ts'
import { readTextIfExists } from '../io/directory.ts'
import { writeJsonAtomic } from '../io/files.ts'
import { errnoOf } from '../io/fs-error.ts'
import { describeHost } from '../io/host.ts'
import { acquireLock, type Lock } from '../io/lock.ts'
import {
  type Manifest,
  type ManifestChange,
  type NewRun,
  type RunFlag,
  type RunTotals,
  runFlags,
  runKinds,
} from './contract.ts'
import { runFile } from './run-paths.ts'

/** The manifest of a run that begins now. */
export function newManifest(runId: string, startedAt: string, run: NewRun): Manifest {
  const host = describeHost()
  const blank: Manifest = {
    schema_version: 1,
    run_id: runId,
    kind: run.kind,
    title: run.title,
    status: 'running',
    timestamp_start: startedAt,
    timestamp_end: null,
    commit_sha: 'unknown',
    dirty: null,
    commands_executed: [],
    platform: {
      os: host.os,
      arch: host.arch,
      container_image: null,
      cpus: host.cpus,
      memory_bytes: host.memoryBytes,
    },
    versions: { gantry: version, node: process.versions.node, agents: {}, target: null },
    argv: run.argv,
    cwd: run.cwd,
    flags: { pinned: false, blessed: false, stuck: false },
    flag_reasons: {},
    refers_to: [],
    resumed_at: [],
    totals: null,
    details: {},
  }
  return changeManifest(blank, run)
}

/** Records are merged key by key, references are added, everything else is replaced. */
export function changeManifest(manifest: Manifest, change: ManifestChange): Manifest {
  const { platform, versions } = manifest
  return {
    ...manifest,
    title: change.title ?? manifest.title,
    commit_sha: change.commit_sha ?? manifest.commit_sha,
    dirty: change.dirty === undefined ? manifest.dirty : change.dirty,
    commands_executed: change.commands_executed ?? manifest.commands_executed,
    platform: {
      ...platform,
      container_image:
        change.container_image === undefined ? platform.container_image : change.container_image,
    },
    versions: {
      ...versions,
      agents: { ...versions.agents, ...change.agents },
      target: change.target === undefined ? versions.target : change.target,
    },
    refers_to: withReferences(manifest, change.refers_to ?? []),
    details: { ...manifest.details, ...change.details },
  }
}

/** Sets or clears a flag together with its reason. */
export function flagManifest(manifest: Manifest, flag: RunFlag, on: boolean, reason?: string): Manifest {
  const { [flag]: _dropped, ...otherReasons } = manifest.flag_reasons
  const keepsReason = on && reason !== undefined
  return {
    ...manifest,
    flags: { ...manifest.flags, [flag]: on },
    flag_reasons: keepsReason ? { ...otherReasons, [flag]: reason } : otherReasons,
  }
}

export function flagsOf(manifest: Manifest): RunFlag[] {
  return runFlags.filter((flag) => manifest.flags[flag])
}

/** A manifest read from disk, or null when it is invalid. Checks every field that readers use and keeps fields of later versions. */
function parseManifest(value: unknown): Manifest | null {
  if (!isObject(value) || value.schema_version !== 1) return null
  const texts = ['run_id', 'title', 'status', 'timestamp_start', 'commit_sha', 'cwd']
  if (texts.some((name) => typeof value[name] !== 'string')) return null
  if (!runKinds.some((kind) => kind === value.kind)) return null
  if (Number.isNaN(Date.parse(String(value.timestamp_start)))) return null
  const lists = ['commands_executed', 'argv', 'refers_to', 'resumed_at']
  if (lists.some((name) => !Array.isArray(value[name]))) return null
  if (['flags', 'flag_reasons', 'platform', 'versions', 'details'].some((name) => !isObject(value[name])))
    return null
  if (value.totals !== null && !isTotals(value.totals)) return null
  return value as unknown as Manifest
}

function withReferences(manifest: Manifest, added: readonly string[]): readonly string[] {
  const references = new Set([...manifest.refers_to, ...added])
  references.delete(manifest.run_id)
  return [...references]
}

function isTotals(value: unknown): value is RunTotals {
  return isObject(value) && typeof value.trials === 'number' && isObject(value.counts)
}

/** `missing`: created by an older tool with another manifest or none, or killed before it was written. */
type ManifestState =
  | { readonly kind: 'whole'; readonly manifest: Manifest }
  | { readonly kind: 'missing' }
  /** Of a version with another format. */
  | { readonly kind: 'other' }
  | { readonly kind: 'damaged' }

export function readManifestState(runDir: string): ManifestState {
  const text = readTextIfExists(runFile.manifest(runDir))
  if (text === null) return { kind: 'missing' }
  const value = parseJson(text)
  if (isObject(value) && !('schema_version' in value)) return { kind: 'missing' }
  if (isObject(value) && typeof value.schema_version === 'number' && value.schema_version !== 1)
    return { kind: 'other' }
  const manifest = parseManifest(value)
  return manifest === null ? { kind: 'damaged' } : { kind: 'whole', manifest }
}

/** Throws GantryError NOT_FOUND, OTHER_VERSION or CORRUPT. */
export function readManifest(runDir: string): Manifest {
  const state = readManifestState(runDir)
  switch (state.kind) {
    case 'whole':
      return state.manifest
    case 'missing':
      throw new GantryError('NOT_FOUND', `${runDir} has no manifest that Gantry can read`, {
        hint: 'An older tool created it, or its process was killed at the start. "gantry runs clean" removes it in time.',
      })
    case 'other':
      throw new GantryError('OTHER_VERSION', `${runDir} was made by another version of Gantry`, {
        hint: 'Use the version that made it, or run its trials again with this one.',
      })
    case 'damaged':
      throw new GantryError('CORRUPT', `${runFile.manifest(runDir)} is damaged`, {
        hint: 'Restore the file from a copy, or remove the run with "gantry runs clean --all".',
      })
  }
}

const patienceMs = 5_000
const pauseMs = 3

/** Reads, changes and writes the manifest under a lock, because the run and `gantry runs pin` may do so at once. */
export function updateManifest(runDir: string, change: (manifest: Manifest) => Manifest): Manifest {
  const lock = waitForLock(runFile.manifestLock(runDir))
  try {
    const changed = change(readManifest(runDir))
    writeJsonAtomic(runFile.manifest(runDir), changed)
    return changed
  } finally {
    lock.release()
  }
}

/** The lock is held only while a small file is written, so a blocking wait is short. */
function waitForLock(path: string): Lock {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += pauseMs) {
    const lock = tryLock(path)
    if (lock !== null) return lock
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
  }
  throw new GantryError('LOCKED', `another process holds ${path}`, { hint: 'Try again when it is done.' })
}

function tryLock(path: string): Lock | null {
  try {
    return acquireLock(path, { label: 'manifest' })
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause
    throw new GantryError('NOT_FOUND', `the run was deleted: ${path} has no directory`, { cause })
  }
}
