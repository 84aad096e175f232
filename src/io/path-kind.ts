import { lstatSync, type Stats, statSync } from 'node:fs'
import { errnoOf } from './fs-error.ts'
import type { Path } from './list-directory.ts'

/** What stands at a path, links followed; null when nothing does. */
export function pathKind(path: string): 'file' | 'directory' | 'other' | null {
  const stats = statsOf(path)
  if (stats === undefined) return null
  if (stats.isFile()) return 'file'
  return stats.isDirectory() ? 'directory' : 'other'
}

/** No path can lead there: its links form a loop, a name is too long, or a directory on the way is closed to us. */
const unreachable = ['ELOOP', 'ENAMETOOLONG', 'EACCES']

function statsOf(path: string): Stats | undefined {
  if (path.includes('\0')) return undefined
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    if (unreachable.includes(errnoOf(cause) ?? '')) return undefined
    throw cause
  }
}

export function isFile(path: string): boolean {
  return pathKind(path) === 'file'
}

export function isDirectory(path: string): boolean {
  return pathKind(path) === 'directory'
}

/** Nothing stands there for sure, not even a link that leads nowhere. */
export function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

/** What stands at a path, a link being a link; null when nothing does or it cannot be looked at. */
export function entryKind(path: Path): 'file' | 'directory' | 'link' | 'other' | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return null
    if (stats.isFile()) return 'file'
    if (stats.isDirectory()) return 'directory'
    return stats.isSymbolicLink() ? 'link' : 'other'
  } catch {
    return null
  }
}

/** Does a socket lie there? Nobody may listen on it any more. */
export function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() === true
}
