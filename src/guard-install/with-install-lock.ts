import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GantryError } from '../core/error.ts'
import type { Variables } from '../core/expand.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { acquireLock, lockHolder } from '../io/lock.ts'
import { makePrivateDirectories } from '../io/private-files.ts'

const patienceMs = 10_000
const pauseMs = 25

/** Allows one install or uninstall of this user at a time. Others wait for a while. */
export async function withInstallLock<T>(env: Variables, work: () => T | Promise<T>): Promise<T> {
  const home = guardHome(env)
  makePrivateDirectories(home)
  const path = join(home, 'install.lock')
  const label = 'gantry guard install'
  const startedAt = performance.now()
  for (;;) {
    const lock = acquireLock(path, { label })
    if (lock !== null) {
      try {
        return await work()
      } finally {
        lock.release()
      }
    }
    if (performance.now() - startedAt > patienceMs) throw busy(path)
    await sleep(pauseMs)
  }
}

function busy(path: string): GantryError {
  const holder = lockHolder(path)
  return new GantryError(
    'LOCKED',
    `another \`gantry guard install\` is running${holder === null ? '' : ` (process ${holder.pid})`}`,
    { hint: 'Wait until it ends and try again.' },
  )
}
