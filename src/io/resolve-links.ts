import { type BigIntStats, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { orElse } from './fs-error.ts'

export interface Resolved {
  /** Without links; what does not exist is appended as it is. */
  readonly real: string
  readonly kind: 'file' | 'directory' | 'other' | 'missing'
  /** `device:inode`, null when missing. */
  readonly id: string | null
  readonly links: number
}

/** Resolves an absolute path link by link, also when its last parts do not exist. Never throws. */
export function resolveLinks(path: string): Resolved {
  if (path.includes('\0')) return missing(path)
  try {
    // A path that is not there is the common case, and an error costs more than a look.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return walk(path)
    const real = realpathSync.native(path)
    return found(real, statSync(real, { bigint: true }))
  } catch {
    return walk(path)
  }
}

/** The same for a name in a directory whose own path has no links: one look at the disk where there is no link. */
export function resolveName(directory: string, name: string): Resolved {
  const path = directory === '/' ? `/${name}` : `${directory}/${name}`
  if (path.includes('\0') || name === '' || name === '.' || name === '..') return resolveLinks(path)
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return missing(path)
    return stats.isSymbolicLink() ? resolveLinks(path) : found(path, stats)
  } catch {
    return resolveLinks(path)
  }
}

/** For a path with an end that is not there, a link that leads nowhere, or a place closed to us. */
function walk(path: string): Resolved {
  const rest = path.split('/').filter((part) => part !== '' && part !== '.')
  let real = '/'
  for (let part = rest.shift(), hops = 0; part !== undefined; part = rest.shift()) {
    if (part === '..') {
      real = posix.dirname(real)
      continue
    }
    const next = real === '/' ? `/${part}` : `${real}/${part}`
    const target = linkTarget(next)
    if (target === null) {
      real = next
      continue
    }
    hops += 1
    if (hops > maxHops) return missing(posix.normalize(path))
    if (target.startsWith('/')) real = '/'
    rest.unshift(...target.split('/').filter((each) => each !== '' && each !== '.'))
  }
  return missing(real)
}

const maxHops = 40

function linkTarget(path: string): string | null {
  const isLink = (): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return orElse(null, () => (isLink() ? readlinkSync(path) : null))
}

function found(real: string, stats: BigIntStats): Resolved {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other'
  return { real, kind, id: `${stats.dev}:${stats.ino}`, links: Number(stats.nlink) }
}

function missing(real: string): Resolved {
  return { real, kind: 'missing', id: null, links: 0 }
}

/** The path with every link resolved; unchanged when it does not exist. */
export function realPath(path: string): string {
  // Node's default walks link by link in JavaScript, which costs a hook a millisecond.
  return orElse(path, () => realpathSync.native(path))
}
