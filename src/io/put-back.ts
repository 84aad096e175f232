import { chmodSync, copyFileSync, lstatSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ensureDir } from './files.ts'

/**
 * Makes `relative` below `to` what it is below `from`, content and mode, whatever stands there now: another file, a link,
 * a directory, nothing. Tells whether anything had to be done.
 */
export function putBack(from: string, to: string, relative: string): boolean {
  const original = join(from, relative)
  const copy = join(to, relative)
  const { mode } = statSync(original)
  const present = lstatSync(copy, { throwIfNoEntry: false })
  const same =
    present?.isFile() === true &&
    (present.mode & 0o777) === (mode & 0o777) &&
    readFileSync(copy).equals(readFileSync(original))
  if (same) return false
  rmSync(copy, { recursive: true, force: true })
  replaceLinkedParents(to, dirname(relative))
  ensureDir(dirname(copy))
  copyFileSync(original, copy)
  chmodSync(copy, mode & 0o777)
  return true
}

/** A parent that is no directory of its own any more would lead the copy somewhere else. */
function replaceLinkedParents(root: string, relative: string): void {
  if (relative === '.') return
  replaceLinkedParents(root, dirname(relative))
  const path = join(root, relative)
  const present = lstatSync(path, { throwIfNoEntry: false })
  if (present !== undefined && !present.isDirectory()) rmSync(path, { force: true })
}
