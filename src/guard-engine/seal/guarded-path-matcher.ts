import { dirname, join, normalize, sep } from 'node:path'
import type { World } from '../../shell/world.ts'

export interface GuardedPathMatch {
  /** The guard's own path that is affected. */
  readonly own: string
  /** `above`: a directory that contains it, so changes to the directory affect it. */
  readonly relation: 'same' | 'inside' | 'above'
}

/** Whether an absolute path leads to one of the guard's own files, by any route. */
export type GuardedPathMatcher = (path: string) => GuardedPathMatch | null

export function guardedPathMatcher(world: World, cwd: string): GuardedPathMatcher {
  let known: readonly { readonly path: string; readonly folded: string }[] | undefined
  // Many calls involve no path, and resolving all own paths takes a hook two milliseconds.
  const own = () => {
    known ??= world.own.map((path) => ({ path, folded: fold(path) }))
    return known
  }
  const nearest = (folded: string): GuardedPathMatch | null =>
    best(own(), (entry) => relationOf(folded, entry.folded))
  /** Directories with none of the guard's files in or below them. A command may write many files in one. */
  const foreign = new Set<string>()
  let ids: ReadonlyMap<string, string> | undefined
  const byId = (id: string): GuardedPathMatch | null => {
    ids ??= new Map(
      world.own.flatMap((path) => {
        const found = world.resolve(path)
        return found.kind === 'file' && found.id !== null ? [[found.id, path]] : []
      }),
    )
    const path = ids.get(id)
    return path === undefined ? null : { own: path, relation: 'same' }
  }
  return (given) => {
    const path = throughProc(isNormal(given) ? given : normalize(given), cwd)
    const resolved = world.resolve(path)
    // Checks both the target and the name itself: a link can be replaced or moved without being followed.
    const directory = dirname(path)
    const itself = named(world.resolve(directory).real, path.slice(directory.length))
    for (const name of new Set([resolved.real, itself, path])) {
      const folded = fold(name)
      const above = folded.slice(0, folded.lastIndexOf(sep))
      if (foreign.has(above)) continue
      const found = nearest(folded)
      if (found !== null) return found
      if (above !== '' && nearest(above) === null) foreign.add(above)
    }
    if (resolved.kind === 'file' && resolved.links > 1 && resolved.id !== null) {
      const found = byId(resolved.id)
      if (found !== null) return found
    }
    return isGlob(path) && resolved.kind === 'missing'
      ? best(own(), (entry) => (globReaches(fold(path), entry.folded) ? 'same' : null))
      : null
  }
}

/** Absolute and already normalized. */
function isNormal(path: string): boolean {
  return sep === '/' && path.startsWith('/') && !/\/(?:\/|\.{1,2}(?:\/|$))/.test(path)
}

/** Like `join`, which scans every character. */
function named(directory: string, rest: string): string {
  return directory !== sep && rest.startsWith(sep) ? `${directory}${rest}` : join(directory, rest)
}

/** `HARNESS.JSON` is the same file on a case-insensitive disk, and no project needs both. */
export function fold(path: string): string {
  const folded = (/[^ -~]/.test(path) ? path.normalize('NFC') : path).toLowerCase()
  return folded.length > 1 && folded.endsWith(sep) ? folded.slice(0, -1) : folded
}

export function isInside(path: string, directory: string): boolean {
  // Called for every pair of call path and own path. Building the string with the trailing slash was the slow part.
  if (!path.startsWith(directory)) return false
  return path.length === directory.length || directory === sep || path[directory.length] === sep
}

function relationOf(path: string, own: string): GuardedPathMatch['relation'] | null {
  if (path === own) return 'same'
  if (isInside(path, own)) return 'inside'
  return isInside(own, path) ? 'above' : null
}

/** Prefers the nearest match: a directory above is reported only when the file itself is not affected. */
function best<Entry extends { readonly path: string }>(
  entries: readonly Entry[],
  relate: (entry: Entry) => GuardedPathMatch['relation'] | null,
): GuardedPathMatch | null {
  let above: GuardedPathMatch | null = null
  for (const entry of entries) {
    const relation = relate(entry)
    if (relation === 'same' || relation === 'inside') return { own: entry.path, relation }
    if (relation === 'above') above ??= { own: entry.path, relation }
  }
  return above
}

/** The links in /proc resolve differently in this process than in the one that will write. */
function throughProc(path: string, cwd: string): string {
  if (!path.startsWith('/proc/')) return path
  const match = /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(root|cwd)(\/.*)?$/.exec(path)
  if (match === null) return path
  return normalize(match[1] === 'root' ? (match[2] ?? '/') : join(cwd, match[2] ?? ''))
}

function isGlob(path: string): boolean {
  return /[*?[]/.test(path)
}

/** Whether an unexpanded pattern could match an own path, something below it, or a directory above it. */
function globReaches(pattern: string, own: string): boolean {
  const wanted = own.split(sep)
  for (const [index, segment] of pattern.split(sep).entries()) {
    if (segment === '**') return true
    const name = wanted[index]
    if (name === undefined) return true
    if (!segmentMatches(segment, name)) return false
  }
  return true
}

function segmentMatches(segment: string, name: string): boolean {
  if (!isGlob(segment)) return segment === name
  // A star does not match hidden files: `rm -rf *` keeps .claude.
  if (name.startsWith('.') && !segment.startsWith('.')) return false
  const source = segment
    .replaceAll(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll(/\[[^\]]*\]/g, '.')
    .replaceAll('[', '\\[')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`).test(name)
}

/** Files below one of the guard's directories, nearest first, up to a limit. A search may find some of them and not the directory. */
export function filesBelow(directory: string, world: Pick<World, 'list'>): readonly string[] {
  const found: string[] = []
  const queue = [directory]
  for (let at = queue.shift(); at !== undefined && found.length < maxFiles; at = queue.shift())
    for (const name of world.list(at) ?? []) {
      const path = `${at}/${name}`
      if (world.list(path) === null) found.push(path)
      else queue.push(path)
    }
  return found
}

const maxFiles = 1000
