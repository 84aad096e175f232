import { basename, join } from 'node:path'
import { moveIfExists, namesIn } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { randomSuffix } from '../io/ids.ts'
import { isRealDirectory } from '../io/list-directory.ts'
import type { Store } from './contract.ts'
import { lockRun } from './run-lock.ts'

/** Deletes a run unless a process works on it. Meanwhile it can neither be resumed nor deleted by another cleaner. */
export function removeRun(store: Store, runId: string): 'removed' | 'live' | 'gone' {
  const dir = join(store.runsDir, runId)
  // Do not lock or empty the target of a link.
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
 * Renames a directory before deleting it, so no process sees it partly deleted. `parent` is on the same disk. `trashIn` finds what a
 * killed process left under the new name. Returns false when there was nothing.
 */
export function removeAside(path: string, parent: string): boolean {
  const aside = join(parent, `${prefix}${basename(path)}-${randomSuffix(6)}`)
  if (!moveIfExists(path, aside)) return false
  removeTree(aside)
  return true
}

/** Names of directories left by interrupted deletions. */
export function trashIn(parent: string): string[] {
  return namesIn(parent).filter((name) => name.startsWith(prefix))
}
