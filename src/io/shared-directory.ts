import { chmodSync } from 'node:fs'
import { makeDirectories } from './directory.ts'
import { translated } from './fs-error.ts'
import { isRoot } from './is-root.ts'

/**
 * A directory that started programs can write to. When Gantry runs as root, they run as another user, and only then the directory is
 * open to all with the sticky bit, like `/tmp`.
 */
export function makeSharedDirectory(path: string): void {
  makeDirectories(path)
  if (isRoot()) translated(`open ${path} to all`, () => chmodSync(path, 0o1777))
}
