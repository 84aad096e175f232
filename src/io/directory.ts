import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { errnoOf, translateFsError } from './fs-error.ts'
import { joinPath, listDirectory, type Path } from './list-directory.ts'
import { isDirectory } from './path-kind.ts'

/** Names in a directory; none when there is no such directory. */
export function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return []
    throw translateFsError(cause, `list ${dir}`)
  }
}

/** Names of the directories in a directory, links to directories included; none when there is no such directory. */
export function directoriesIn(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter(
        (entry) => entry.isDirectory() || (entry.isSymbolicLink() && isDirectory(join(dir, entry.name))),
      )
      .map(({ name }) => name)
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return []
    throw translateFsError(cause, `list ${dir}`)
  }
}

/** Makes exactly this directory; false when something stands there already. */
export function makeDirectory(dir: string): boolean {
  try {
    mkdirSync(dir)
    return true
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST') return false
    throw translateFsError(cause, `make the directory ${dir}`)
  }
}

/** Makes the directory and its parents; fine when it is there already. */
export function makeDirectories(dir: string): void {
  // Step by step: where a directory refuses new entries with ENOENT, as /proc does, Node's recursive form never returns.
  try {
    mkdirSync(dir)
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST' && isDirectory(dir)) return
    if (errnoOf(cause) !== 'ENOENT') throw translateFsError(cause, `make the directory ${dir}`)
    const parent = dirname(dir)
    if (parent === dir || isDirectory(parent)) throw nothingCanBeMade(dir, cause)
    makeDirectories(parent)
    makeDirectory(dir)
  }
}

function nothingCanBeMade(dir: string, cause: unknown): GantryError {
  return new GantryError(
    'NOT_WRITABLE',
    `cannot make the directory ${dir}: its parent takes no new entries`,
    {
      hint: 'Choose another path.',
      cause,
    },
  )
}

/** Renames a file, a directory or a link; false when it is not there (any more). */
export function moveIfExists(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return false
    throw translateFsError(cause, `move ${from}`)
  }
}

/** null when the file is not there. */
export function readTextIfExists(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT' || errnoOf(cause) === 'ENOTDIR') return null
    throw translateFsError(cause, `read ${path}`)
  }
}

/** Changes whenever a file is replaced or grows; `-` when it is not there. */
export function fileStamp(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? '-' : `${stats.mtimeMs}:${stats.size}:${stats.ino}`
}

/** Tells a file from another one that takes its place later; null when there is none. */
export function fileIdentity(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}:${stats.birthtimeMs}`
}

/** null when there is nothing at the path. */
export function modifiedAtMs(path: string): number | null {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
}

/** Room a tree takes on disk. Links count as themselves and are never followed; what cannot be looked at counts nothing. */
export function treeBytes(path: Path): number {
  const stats = looked(() => lstatSync(path, { throwIfNoEntry: false }))
  if (stats === undefined) return 0
  const own = stats.blocks * 512
  if (!stats.isDirectory()) return own
  const names = looked(() => listDirectory(path))?.map(({ name }) => name) ?? []
  return names.reduce((sum, name) => sum + treeBytes(joinPath(path, name)), own)
}

/** A directory that cannot be read, one that went away, or one nested deeper than a path can name. */
const hidden = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENAMETOOLONG']

function looked<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (cause) {
    if (hidden.includes(errnoOf(cause) ?? '')) return undefined
    throw cause
  }
}
