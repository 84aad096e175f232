import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories, makeDirectory } from '../io/directory.ts'
import { writeJsonAtomic } from '../io/files.ts'
import { newRunId } from '../io/ids.ts'
import { makePrivateDirectories } from '../io/private-files.ts'
import type { LiveRun, NewRun, Store } from './contract.ts'
import { liveRun } from './live-run.ts'
import { newManifest } from './manifest.ts'
import { removeAside } from './remove-run.ts'
import { lockRun, type RunLock } from './run-lock.ts'
import { runFile } from './run-paths.ts'

/** Creates a run directory with a manifest, locked by this process. */
export function createRun(store: Store, run: NewRun): LiveRun {
  const { id, dir, lock } = run.id === undefined ? claimDirectory(store) : claimNamed(store, run.id)
  try {
    makeDirectories(runFile.trials(dir))
    writeJsonAtomic(runFile.manifest(dir), newManifest(id, store.clock.now().toISOString(), run))
  } catch (error) {
    // A full disk. What another program made is not ours to remove.
    if (run.id === undefined) removeAside(dir, store.runsDir)
    lock.release()
    throw error
  }
  return liveRun({
    store,
    id,
    dir,
    earlier: [],
    unpublished: [],
    onWarning: run.onWarning ?? (() => {}),
    releaseLock: lock.release,
  })
}

/** The directory of a run that another program made. It may exist already. */
function claimNamed(store: Store, id: string): { id: string; dir: string; lock: RunLock } {
  const dir = join(store.runsDir, id)
  makeDirectories(dir)
  const lock = lockRun(dir)
  if (lock.kind === 'held') return { id, dir, lock }
  throw new GantryError('LOCKED', `another process is working on run ${id}`, {
    hint: 'Wait until it is done.',
  })
}

/** Tries another name when one is taken or its directory is cleaned away before it is locked. */
function claimDirectory(store: Store): { id: string; dir: string; lock: RunLock } {
  makePrivateDirectories(store.runsDir)
  for (let tries = 0; tries < 20; tries += 1) {
    const id = newRunId(store.clock)
    const dir = join(store.runsDir, id)
    if (!makeDirectory(dir)) continue
    const lock = lockNew(dir, store)
    if (lock.kind === 'held') return { id, dir, lock }
  }
  throw new GantryError('LOCKED', `cannot create a run directory in ${store.runsDir}`, {
    hint: 'Twenty names in a row were taken. Check the clock and whether something removes directories there.',
  })
}

/** A directory that cannot be locked, on a full disk, would stay in every list. */
function lockNew(dir: string, { runsDir }: Store): ReturnType<typeof lockRun> {
  try {
    return lockRun(dir)
  } catch (error) {
    removeAside(dir, runsDir)
    throw error
  }
}
