import { errnoOf } from '../io/fs-error.ts'
import { acquireLock, lockHolder } from '../io/lock.ts'
import { runFile } from './run-paths.ts'

export type RunLock = { readonly kind: 'held'; release(): void }

/** `busy`: a living process works on the run. `gone`: the directory is not there any more. */
export type RunLockOutcome =
  | RunLock
  | { readonly kind: 'busy'; readonly pid: number | null }
  | { readonly kind: 'gone' }

/** Takes the run's lock, also from a process that died with it. */
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

/** Whether a process works on the run right now. A lock that we may not read is taken for held: nothing is lost by waiting. */
export function isLive(runDir: string): boolean {
  try {
    return lockHolder(runFile.lock(runDir)) !== null
  } catch (cause) {
    const errno = errnoOf(cause)
    if (errno === undefined) throw cause
    return errno !== 'EISDIR' && errno !== 'ENOTDIR'
  }
}
