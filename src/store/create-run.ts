import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories, makeDirectory } from '../io/directory.ts'
import { writeJsonAtomic } from '../io/files.ts'
import { newRunId } from '../io/ids.ts'
import type { LiveRun, NewRun, Store } from './contract.ts'
import { liveRun } from './live-run.ts'
import { newManifest } from './manifest.ts'
import { lockRun, type RunLock } from './run-lock.ts'
import { runFile } from './run-paths.ts'

/** Makes a run directory of its own, locked for this process, with its manifest in it. */
export function createRun(store: Store, run: NewRun): LiveRun {
  const { id, dir, lock } = claimDirectory(store)
  try {
    makeDirectories(runFile.trials(dir))
    writeJsonAtomic(runFile.manifest(dir), newManifest(id, store.clock.now().toISOString(), run))
  } catch (error) {
    lock.release()
    throw error
  }
  return liveRun({
    store,
    id,
    dir,
    resumed: false,
    earlier: [],
    unpublished: [],
    onWarning: run.onWarning ?? (() => {}),
    releaseLock: lock.release,
  })
}

/** A name may be taken, and a new directory may be cleaned away before it is locked: then another is tried. */
function claimDirectory(store: Store): { id: string; dir: string; lock: RunLock } {
  makeDirectories(store.runsDir)
  for (let tries = 0; tries < 20; tries += 1) {
    const id = newRunId(store.clock)
    const dir = join(store.runsDir, id)
    if (!makeDirectory(dir)) continue
    const lock = lockRun(dir)
    if (lock.kind === 'held') return { id, dir, lock }
  }
  throw new GantryError('LOCKED', `cannot make a run directory in ${store.runsDir}`, {
    hint: 'Twenty names in a row were taken: check the clock and whether something removes directories there.',
  })
}
