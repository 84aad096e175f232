import { dirname, join, normalize, sep } from 'node:path'
import type { World } from '../../shell/world.ts'

export interface OwnMatch {
  /** The own path that is touched. */
  readonly own: string
  /** `above`: a directory that holds it, so that what happens to the directory happens to it. */
  readonly relation: 'same' | 'inside' | 'above'
}

/** Whether an absolute path leads to something of the guard's own, whatever way it takes there. */
export type OwnMatcher = (path: string) => OwnMatch | null

export function ownMatcher(world: World, cwd: string): OwnMatcher {
  let known: readonly { readonly path: string; readonly folded: string }[] | undefined
  // Many calls are asked about no path at all, and to look up all of these takes a hook two milliseconds.
  const own = () => {
    known ??= world.own.map((path) => ({ path, folded: fold(path) }))
    return known
  }
  const nearest = (folded: string): OwnMatch | null =>
    best(own(), (entry) => relationOf(folded, entry.folded))
  /** Directories that nothing of the guard's lies in or above of: so with each of their files, and a command may write many. */
  const foreign = new Set<string>()
  let ids: ReadonlyMap<string, string> | undefined
  const byId = (id: string): OwnMatch | null => {
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
    // Where the path leads, and the name itself: a link that is replaced or moved is touched without being followed.
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

/** Absolute, and `normalize` would leave it as it is. */
function isNormal(path: string): boolean {
  return sep === '/' && path.startsWith('/') && !/\/(?:\/|\.{1,2}(?:\/|$))/.test(path)
}

/** As `join` has it, which looks at every letter. */
function named(directory: string, rest: string): string {
  return directory !== sep && rest.startsWith(sep) ? `${directory}${rest}` : join(directory, rest)
}

/** `HARNESS.JSON` is the same file on a disk that folds case, and nobody needs both. */
export function fold(path: string): string {
  const folded = (/[^ -~]/.test(path) ? path.normalize('NFC') : path).toLowerCase()
  return folded.length > 1 && folded.endsWith(sep) ? folded.slice(0, -1) : folded
}

export function isInside(path: string, directory: string): boolean {
  // Asked for every pair of a call's paths and the own ones: making the text with the slash at its end is what took the time.
  if (!path.startsWith(directory)) return false
  return path.length === directory.length || directory === sep || path[directory.length] === sep
}

function relationOf(path: string, own: string): OwnMatch['relation'] | null {
  if (path === own) return 'same'
  if (isInside(path, own)) return 'inside'
  return isInside(own, path) ? 'above' : null
}

/** The nearest: to say that a directory above is touched only when the thing itself is not. */
function best<Entry extends { readonly path: string }>(
  entries: readonly Entry[],
  relate: (entry: Entry) => OwnMatch['relation'] | null,
): OwnMatch | null {
  let above: OwnMatch | null = null
  for (const entry of entries) {
    const relation = relate(entry)
    if (relation === 'same' || relation === 'inside') return { own: entry.path, relation }
    if (relation === 'above') above ??= { own: entry.path, relation }
  }
  return above
}

/** The links of /proc lead elsewhere in the process that asks than in the one that will write. */
function throughProc(path: string, cwd: string): string {
  if (!path.startsWith('/proc/')) return path
  const match = /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(root|cwd)(\/.*)?$/.exec(path)
  if (match === null) return path
  return normalize(match[1] === 'root' ? (match[2] ?? '/') : join(cwd, match[2] ?? ''))
}

function isGlob(path: string): boolean {
  return /[*?[]/.test(path)
}

/** Whether a pattern that nobody expanded could mean an own path, something below it, or a directory above it. */
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
  // A star does not mean hidden files: `rm -rf *` leaves .claude where it is.
  if (name.startsWith('.') && !segment.startsWith('.')) return false
  const source = segment
    .replaceAll(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll(/\[[^\]]*\]/g, '.')
    .replaceAll('[', '\\[')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`).test(name)
}
