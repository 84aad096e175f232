import { basename, join } from 'node:path'
import { moveIfExists, namesIn } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { randomSuffix } from '../io/ids.ts'

const prefix = '.trash-'

/**
 * Deletes a directory so that nobody ever sees half of it: it first loses its name. `parent` is on the same disk. What a
 * kill leaves under the new name is found by `trashIn`. False when there was nothing.
 */
export function removeAside(path: string, parent: string): boolean {
  const aside = join(parent, `${prefix}${basename(path)}-${randomSuffix(6)}`)
  if (!moveIfExists(path, aside)) return false
  removeTree(aside)
  return true
}

/** Names of what earlier deletions left behind. */
export function trashIn(parent: string): string[] {
  return namesIn(parent).filter((name) => name.startsWith(prefix))
}
