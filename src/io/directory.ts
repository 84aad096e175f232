import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { allowing, errnoOf, isDone, translated, translateFsError } from './fs-error.ts'
import { joinPath, listDirectory, type Path } from './list-directory.ts'
import { isDirectory, isEndless } from './path-kind.ts'

/** Names in a directory; none when there is no such directory. */
export function namesIn(dir: string): string[] {
  return listed(dir, () => readdirSync(dir))
}

/** Names of the directories in a directory, links to directories included; none when there is no such directory. */
export function directoriesIn(dir: string): string[] {
  return listed(dir, () => readdirSync(dir, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && isDirectory(join(dir, entry.name))))
    .map(({ name }) => name)
}

function listed<T>(dir: string, list: () => T[]): T[] {
  return translated(`list ${dir}`, () => allowing(['ENOENT'], list) ?? [])
}

/** Creates exactly this directory. Returns false when the path already exists. */
export function makeDirectory(dir: string): boolean {
  return translated(`make the directory ${dir}`, () => isDone(['EEXIST'], () => mkdirSync(dir)))
}

/** Creates the directory and its parents if needed. `mode`: of those it creates. */
export function makeDirectories(dir: string, mode = 0o777): void {
  // Step by step, because Node's recursive form never returns where a directory refuses new entries with ENOENT, as /proc does.
  try {
    mkdirSync(dir, { mode })
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST' && isDirectory(dir)) return
    if (errnoOf(cause) !== 'ENOENT') throw translateFsError(cause, `make the directory ${dir}`)
    const parent = dirname(dir)
    if (parent === dir || isDirectory(parent)) throw nothingCanBeMade(dir, cause)
    makeDirectories(parent, mode)
    makeDirectories(dir, mode)
  }
}

function nothingCanBeMade(dir: string, cause: unknown): GantryError {
  return new GantryError(
    'NOT_WRITABLE',
    `cannot make the directory ${dir}: its parent takes no new entries`,
    { hint: 'Choose another path.', cause },
  )
}

/** Renames a file, a directory or a link. Returns false when it does not exist. */
export function moveIfExists(from: string, to: string): boolean {
  return translated(`move ${from}`, () => isDone(['ENOENT'], () => renameSync(from, to)))
}

/** null when the file does not exist. A pipe or a device counts as empty, because reading it may never end. */
export function readTextIfExists(path: string): string | null {
  const read = (): string => (isEndless(path) ? '' : readFileSync(path, 'utf8'))
  return translated(`read ${path}`, () => allowing(['ENOENT', 'ENOTDIR'], read) ?? null)
}

/** Changes whenever a file is replaced or grows; `-` when it does not exist. */
export function fileStamp(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? '-' : `${stats.mtimeMs}:${stats.size}:${stats.ino}`
}

/** Distinguishes a file from a later one at the same path; null when there is none. */
export function fileIdentity(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}:${stats.birthtimeMs}`
}

/** Bytes of a file, a directory, or of a link itself, which is not followed; null when there is none or it cannot be read. */
export function bytesOf(path: string): number | null {
  return allowing([...hidden, 'ELOOP'], () => lstatSync(path, { throwIfNoEntry: false }))?.size ?? null
}

/** null when there is nothing at the path. */
export function modifiedAtMs(path: string): number | null {
  return allowing(hidden, () => lstatSync(path, { throwIfNoEntry: false }))?.mtimeMs ?? null
}

/** Disk usage of a tree. Links are not followed, and unreadable parts count as 0. */
export function treeBytes(path: Path): number {
  const stats = allowing(hidden, () => lstatSync(path, { throwIfNoEntry: false }))
  if (stats === undefined) return 0
  const own = stats.blocks * 512
  if (!stats.isDirectory()) return own
  const names = allowing(hidden, () => listDirectory(path))?.map(({ name }) => name) ?? []
  return names.reduce((sum, name) => sum + treeBytes(joinPath(path, name)), own)
}

/** Whether something below is nested so deeply that no path reaches it. */
export function isTooDeep(path: Path): boolean {
  try {
    if (!lstatSync(path).isDirectory()) return false
    return listDirectory(path).some((entry) => entry.isDirectory() && isTooDeep(joinPath(path, entry.name)))
  } catch (cause) {
    return errnoOf(cause) === 'ENAMETOOLONG'
  }
}

/** A directory that cannot be read, was removed, or is nested too deeply for a path. */
const hidden = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENAMETOOLONG']
