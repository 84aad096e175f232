import { chmodSync, copyFileSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join, normalize, sep } from 'node:path'
import { GantryError } from '../core/error.ts'
import { translated } from './fs-error.ts'
import { isRealDirectory } from './list-directory.ts'
import { removeTree } from './remove-tree.ts'

/**
 * Copies a file with its permissions to `relative` below `root`. Removes any file, directory or link in the way, also in place of a
 * parent. Never writes through a link.
 */
export function copyFileInto(source: string, root: string, relative: string): void {
  const steps = normalize(relative).split(sep)
  if (steps.includes('..') || relative.startsWith('/'))
    throw new GantryError('UNSAFE_PATH', `${relative} leads out of ${root}`)
  translated(`write ${join(root, relative)}`, () => {
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
  })
}

/** Whether both are regular files with the same bytes and permissions. A link is never the same. */
export function sameContent(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => lstatSync(path, { throwIfNoEntry: false }))
  if (!a?.isFile() || !b?.isFile() || a.size !== b.size || (a.mode & 0o777) !== (b.mode & 0o777)) return false
  return translated(`compare ${one} with ${other}`, () => readFileSync(one).equals(readFileSync(other)))
}
