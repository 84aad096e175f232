import { rmdirSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'

/** Removes a directory nobody put anything into. */
export function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch (cause) {
    const errno = errnoOf(cause)
    if (errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'ENOENT') return
    throw translateFsError(cause, `remove ${path}`)
  }
}
