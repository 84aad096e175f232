import { chmodSync, lstatSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'
import { joinPath, listDirectory, type Path } from './list-directory.ts'

const setIds = 0o6000

/**
 * Takes the power to run as its owner or group from every program below a directory. Links are not followed. For places nobody
 * writes to any more: between the look and the change a name could come to mean something else.
 */
export function stripSetuid(directory: string): void {
  try {
    strip(directory)
  } catch (cause) {
    throw translateFsError(cause, `go through ${directory}`)
  }
}

function strip(directory: Path): void {
  for (const entry of entriesOf(directory)) {
    const path = joinPath(directory, entry.name)
    if (entry.isDirectory()) strip(path)
    if (!entry.isFile()) continue
    const { mode } = lstatSync(path)
    if ((mode & setIds) !== 0) chmodSync(path, mode & 0o777)
  }
}

/** What its owner has closed is closed to us as well, unless we are root; then nobody else can reach what is in it either. */
function entriesOf(directory: Path) {
  try {
    return listDirectory(directory)
  } catch (cause) {
    if (['EACCES', 'ENOENT'].includes(errnoOf(cause) ?? '')) return []
    throw cause
  }
}
