import { errnoOf } from '../io/fs-error.ts'
import { acquireLock, lockHolder } from '../io/lock.ts'
import { runFile } from './run-paths.ts'

export type RunLock = { readonly kind: 'held'; release(): void }

/** `busy`: a living process works on the run. `gone`: the directory does not exist any more. */
export type RunLockOutcome =
  | RunLock
  | { readonly kind: 'busy'; readonly pid: number | null }
  | { readonly kind: 'gone' }

/** Takes the run's lock, also from a dead process. */
export function lockRun(runDir: string): RunLockOutcome {
  const path = runFile.lock(runDir)
  try {
    const lock = acquireLock(path, { label: 'run' })
    if (lock === null) return { kind: 'busy', pid: lockHolder(path)?.pid ?? null }
    return { kind: 'held', release: () => lock.release() }
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return { kind: 'gone' }
    throw cause
  }
}

/** Whether a process works on the run. An unreadable lock counts as held, which is the safe answer. */
export function isLive(runDir: string): boolean {
  try {
    return lockHolder(runFile.lock(runDir)) !== null
  } catch (cause) {
    const errno = errnoOf(cause)
    if (errno === undefined) throw cause
    return errno !== 'EISDIR' && errno !== 'ENOTDIR'
  }
}
