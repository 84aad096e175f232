import { dirname, join } from 'node:path'
import { moveIfExists } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { orElse } from '../io/fs-error.ts'
import { listDirectory } from '../io/list-directory.ts'
import { acquireLock } from '../io/lock.ts'
import { isDirectory } from '../io/path-kind.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'

const prefix = 'gantry-work-'

/** A directory for all that a worker writes. Those that killed workers of this machine left are removed first. */
export function workerScratch(): ReturnType<typeof temporaryDirectory> {
  for (;;) {
    const scratch = temporaryDirectory(prefix)
    if (lock(scratch.path)) {
      sweep(dirname(scratch.path))
      return scratch
    }
  }
}

/** A directory without a lock belongs to a worker that was killed as soon as it had made it, or that is about to lock it. */
function sweep(parent: string): void {
  for (const entry of listDirectory(parent)) {
    if (!String(entry.name).startsWith(prefix) || !entry.isDirectory()) continue
    const path = join(parent, String(entry.name))
    // Not those of other users.
    if (!orElse(false, () => lock(path))) continue
    // A worker that is about to lock it finds that it is gone, and makes another one.
    if (moveIfExists(path, `${path}-left`)) removeTree(`${path}-left`)
  }
}

/** Whether this process has the directory. It has not when another one that sweeps was faster. */
function lock(path: string): boolean {
  try {
    return acquireLock(join(path, 'lock'), { label: 'gantry work' }) !== null
  } catch (error) {
    if (isDirectory(path)) throw error
    return false
  }
}
