import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { ledgerPlace } from '../../guard-engine/ledger/ledger-place.ts'
import { acquireLock, type Lock, lockHolder } from '../../io/lock.ts'
import { makePrivateDirectories } from '../../io/private-store.ts'

/** One plan run at a time in one working tree. */
export function lockProject(guardHome: string, root: string): Lock {
  const { directory } = ledgerPlace(guardHome, root, '')
  makePrivateDirectories(directory)
  const path = join(directory, 'plan-run.lock')
  const lock = acquireLock(path, { label: 'gantry plan run' })
  if (lock !== null) return lock
  const holder = lockHolder(path)
  throw new GantryError(
    'LOCKED',
    `another plan run works in ${root}${holder === null ? '' : ` (process ${holder.pid})`}`,
    { hint: 'Wait until it is done, or end that process.' },
  )
}
