import { GantryError } from '../core/error.ts'
import { writeJsonAtomic } from '../io/files.ts'
import { errnoOf } from '../io/fs-error.ts'
import { acquireLock, type Lock } from '../io/lock.ts'
import type { Manifest } from './contract.ts'
import { readManifest } from './read-manifest.ts'
import { runFile } from './run-paths.ts'

const patienceMs = 5_000
const pauseMs = 3

/** Reads, changes and writes the manifest as one step: the run and a person who pins it may do so at once. */
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

/** Nobody holds this lock for longer than it takes to write a small file, so a blocking wait is short. */
function waitForLock(path: string): Lock {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += pauseMs) {
    const lock = tryLock(path)
    if (lock !== null) return lock
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
  }
  throw new GantryError('LOCKED', `another process keeps ${path}`, { hint: 'Try again when it is done.' })
}

function tryLock(path: string): Lock | null {
  try {
    return acquireLock(path, { label: 'manifest' })
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause
    throw new GantryError('NOT_FOUND', `the run is gone: ${path} has no directory any more`, { cause })
  }
}
