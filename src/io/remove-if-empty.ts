import { rmdirSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'

/** Removes a directory nobody put anything into. */
export function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch (cause) {
    const errno = errnoOf(cause)
    // An agent may have put a file or a link in its place.
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(errno ?? '')) return
    throw translateFsError(cause, `remove ${path}`)
  }
}
