import { lstatSync, renameSync } from 'node:fs'
import { allowing, isDone, translated } from './fs-error.ts'
import { joinPath, listDirectory, type Path, showPath } from './list-directory.ts'

/**
 * Moves the entries of a directory into another one on the same disk by renaming. A link moves as a link. Existing entries are not
 * replaced.
 */
export function moveEntries(from: string, to: string, mayMove: (name: string) => boolean) {
  /** Their new paths, for messages. */
  const moved: string[] = []
  /** Entries not moved, because the name is taken or not allowed, or the system refused. */
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
  const list = () => listDirectory(directory)
  return translated(`list ${directory}`, () => allowing(['ENOENT', 'ENOTDIR', 'EACCES'], list) ?? [])
}

function isFree(path: Path): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined
}

/** Another user's directory cannot be moved, so it stays. */
function renamed(from: Path, to: Path): boolean {
  const codes = ['EACCES', 'EPERM', 'ENOENT', 'EXDEV', 'EBUSY']
  return translated(`move ${showPath(from)}`, () => isDone(codes, () => renameSync(from, to)))
}
