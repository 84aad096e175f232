import { chmodSync, copyFileSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join, normalize, sep } from 'node:path'
import { GantryError } from '../core/error.ts'
import { translateFsError } from './fs-error.ts'
import { isRealDirectory } from './list-directory.ts'
import { removeTree } from './remove-tree.ts'

/**
 * Puts a file at `relative` below `root` with its content and permissions, whatever stands there: a file, a directory or a link in
 * its way, also in the place of a parent, is removed. Never writes through a link.
 */
export function copyFileInto(source: string, root: string, relative: string): void {
  const steps = normalize(relative).split(sep)
  if (steps.includes('..') || relative.startsWith('/'))
    throw new GantryError('UNSAFE_PATH', `${relative} leads out of ${root}`)
  try {
    for (const depth of steps.slice(1).keys()) {
      const parent = join(root, ...steps.slice(0, depth + 1))
      if (isRealDirectory(parent)) continue
      removeTree(parent)
      mkdirSync(parent)
    }
    const place = join(root, ...steps)
    removeTree(place)
    copyFileSync(source, place)
    chmodSync(place, lstatSync(source).mode & 0o777)
  } catch (cause) {
    throw translateFsError(cause, `write ${join(root, relative)}`)
  }
}

/** Two regular files with the same bytes and the same permissions. A link is never the same, wherever it leads. */
export function sameContent(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => lstatSync(path, { throwIfNoEntry: false }))
  if (!a?.isFile() || !b?.isFile() || a.size !== b.size || (a.mode & 0o777) !== (b.mode & 0o777)) return false
  try {
    return readFileSync(one).equals(readFileSync(other))
  } catch (cause) {
    throw translateFsError(cause, `compare ${one} with ${other}`)
  }
}
