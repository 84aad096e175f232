import { rmdirSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'

/** Removes an empty directory. False when it is not empty or not a directory. */
export function removeIfEmpty(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (cause) {
    const errno = errnoOf(cause)
    // An agent may have put a file or a link in its place.
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(errno ?? '')) return false
    throw translateFsError(cause, `remove ${path}`)
  }
}
