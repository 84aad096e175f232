import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'
import { isRealDirectory, joinPath, listDirectory, type Path } from './list-directory.ts'

/**
 * Removes a file or a directory with its content, including read-only directories. Ignores a missing path.
 * A link is removed itself, never what it leads to.
 */
export function removeTree(path: string): void {
  const options = { recursive: true, force: true, maxRetries: 3 }
  try {
    rmSync(path, options)
  } catch (first) {
    try {
      // Too deep for a path: `rm` goes down one directory at a time.
      if (errnoOf(first) === 'ENAMETOOLONG' && spawnSync('rm', ['-rf', '--', path]).status === 0) return
      if (!['EACCES', 'EPERM', 'ENOTEMPTY'].includes(errnoOf(first) ?? '')) throw first
      makeRemovable(path)
      rmSync(path, options)
    } catch (cause) {
      throw translateFsError(cause, `remove ${path}`)
    }
  }
}

function makeRemovable(path: Path): void {
  if (!isRealDirectory(path)) return
  chmodSync(path, 0o700)
  for (const entry of listDirectory(path)) if (entry.isDirectory()) makeRemovable(joinPath(path, entry.name))
}
