import { chmodSync } from 'node:fs'
import { makeDirectories } from './directory.ts'
import { translateFsError } from './fs-error.ts'
import { isRoot } from './is-root.ts'

/**
 * A directory that what we start can write to. Started by root it runs as another user, and only then the directory is opened to
 * all, as `/tmp` is: no user can remove the files of another.
 */
export function makeSharedDirectory(path: string): void {
  makeDirectories(path)
  if (!isRoot()) return
  try {
    chmodSync(path, 0o1777)
  } catch (cause) {
    throw translateFsError(cause, `open ${path} to all`)
  }
}
