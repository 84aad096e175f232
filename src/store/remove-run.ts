import { basename, join } from 'node:path'
import { moveIfExists, namesIn } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { randomSuffix } from '../io/ids.ts'
import { isRealDirectory } from '../io/list-directory.ts'
import type { Store } from './contract.ts'
import { lockRun } from './run-lock.ts'

/** Deletes a run unless a process works on it. While it goes, nobody can resume it and no other cleaner can take it. */
export function removeRun(store: Store, runId: string): 'removed' | 'live' | 'gone' {
  const dir = join(store.runsDir, runId)
  // A link stands for a directory elsewhere, which is not ours to lock or to empty.
  if (!isRealDirectory(dir)) return removeAside(dir, store.runsDir) ? 'removed' : 'gone'
  const lock = lockRun(dir)
  if (lock.kind === 'busy') return 'live'
  if (lock.kind === 'gone') return 'gone'
  try {
    return removeAside(dir, store.runsDir) ? 'removed' : 'gone'
  } finally {
    lock.release()
  }
}

const prefix = '.trash-'

/**
 * Deletes a directory so that nobody ever sees half of it: it first loses its name. `parent` is on the same disk. What a
 * kill leaves under the new name is found by `trashIn`. False when there was nothing.
 */
export function removeAside(path: string, parent: string): boolean {
  const aside = join(parent, `${prefix}${basename(path)}-${randomSuffix(6)}`)
  if (!moveIfExists(path, aside)) return false
  removeTree(aside)
  return true
}

/** Names of what earlier deletions left behind. */
export function trashIn(parent: string): string[] {
  return namesIn(parent).filter((name) => name.startsWith(prefix))
}
