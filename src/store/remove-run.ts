import { join } from 'node:path'
import { isRealDirectory } from '../io/list-directory.ts'
import type { Store } from './contract.ts'
import { removeAside } from './remove-aside.ts'
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
