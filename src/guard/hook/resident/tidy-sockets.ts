import { basename, dirname, join } from 'node:path'
import { GantryError } from '../../../core/error.ts'
import { namesIn } from '../../../io/directory.ts'
import { removeTree } from '../../../io/files.ts'
import { isSocket } from '../../../io/is-socket.ts'
import { acquireLock } from '../../../io/lock.ts'
import { isListening } from '../../../io/unix-socket.ts'

const patienceMs = 500

/** Removes what killed helpers left beside `own`: sockets nobody listens on, and their locks. Those of living helpers stay. */
export async function tidySockets(own: string): Promise<void> {
  const directory = dirname(own)
  try {
    const names = new Set(namesIn(directory).map((name) => name.replace(/\.lock$/, '')))
    for (const name of names)
      if (/^[0-9a-f]{20}\.sock$/.test(name) && name !== basename(own)) await tidySocket(join(directory, name))
  } catch (error) {
    // Only room is at stake.
    if (!(error instanceof GantryError)) throw error
  }
}

/** Under the lock of whoever would listen there: nobody begins to while it is looked at. */
async function tidySocket(path: string): Promise<void> {
  const lock = acquireLock(`${path}.lock`, { label: 'tidies up' })
  if (lock === null) return
  try {
    if (isSocket(path) && !(await isListening(path, patienceMs))) removeTree(path)
  } finally {
    lock.release()
  }
}
