import { lstatSync, renameSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'
import { joinPath, listDirectory, type Path, showPath } from './list-directory.ts'

export interface MovedEntries {
  /** Where they are now, for people. */
  readonly moved: readonly string[]
  /** Those that stayed, because the name is not free or may not be taken, or because the system refused. */
  readonly stayed: readonly string[]
}

/**
 * Moves what is in a directory into another one on the same disk, entry by entry. Entries are renamed and never looked into:
 * a link moves as a link. Nothing that stands in the other directory is replaced.
 */
export function moveEntries(from: string, to: string, mayMove: (name: string) => boolean): MovedEntries {
  const moved: string[] = []
  const stayed: string[] = []
  for (const { name } of entriesOf(from)) {
    const [source, target] = [joinPath(from, name), joinPath(to, name)]
    const isMoved = mayMove(showPath(name)) && isFree(target) && renamed(source, target)
    if (isMoved) moved.push(showPath(target))
    else stayed.push(showPath(source))
  }
  return { moved, stayed }
}

function entriesOf(directory: string) {
  try {
    return listDirectory(directory)
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(errnoOf(cause) ?? '')) return []
    throw translateFsError(cause, `list ${directory}`)
  }
}

function isFree(path: Path): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined
}

/** Somebody else's directory cannot be given another parent; then it stays where it is. */
function renamed(from: Path, to: Path): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (cause) {
    if (['EACCES', 'EPERM', 'ENOENT', 'EXDEV', 'EBUSY'].includes(errnoOf(cause) ?? '')) return false
    throw translateFsError(cause, `move ${showPath(from)}`)
  }
}
