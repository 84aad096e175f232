import { sha256OfParts } from './sha256.ts'

/**
 * A tree as `git ls-files --stage -v -z` prints it: per file the letter H, mode, id and stage 0, a tab, the path, NUL; sorted by
 * the bytes of the path. Paths are strings with one character per byte (latin1), so that sorting strings sorts bytes.
 */
type GitListing = ReturnType<typeof readListing>

const letterH = 'H'.charCodeAt(0)
const tab = '\t'.charCodeAt(0)

export const emptyListing: GitListing = {
  bytes: Buffer.alloc(0),
  starts: [],
  doubtful: new Map(),
  gitlinks: new Map(),
}

export function readListing(bytes: Buffer) {
  const starts: number[] = []
  const doubtful = new Map<string, string>()
  const gitlinks = new Map<string, string>()
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start)
    // Only a gitlink's mode, 160000, starts with 16.
    const isGitlink = bytes[start + 3] === 0x36
    if (bytes[start] !== letterH || isGitlink) {
      const [, , id = ''] = bytes.toString('latin1', start, end).split(' ', 3)
      const kind = isGitlink ? gitlinks : doubtful
      kind.set(pathAt(bytes, start, end), id)
    }
    starts.push(start)
    start = end + 1
  }
  return {
    bytes,
    /** Where each record starts. */
    starts,
    /** Entries that cannot be trusted, with their id: changed, flagged as unchanged, left out, or unmerged. */
    doubtful,
    /** Submodules, with the commit that is recorded for them. */
    gitlinks,
  }
}

/** Paths without real parents. Asks once for files in a row that have the same directory, as most have. */
export function strayPaths(
  { bytes, starts }: GitListing,
  hasRealParents: (path: string) => boolean,
): string[] {
  let last: Buffer = Buffer.alloc(0)
  let isReal = true
  return starts.flatMap((start, index) => {
    const path = bytes.subarray(bytes.indexOf(tab, start) + 1, (starts[index + 1] ?? bytes.length) - 1)
    const directory = path.subarray(0, Math.max(path.lastIndexOf('/'), 0))
    if (!directory.equals(last)) isReal = hasRealParents(path.toString('latin1'))
    last = directory
    return isReal ? [] : [path.toString('latin1')]
  })
}

export function recordOf(mode: string, id: string, path: string): string {
  return `H ${mode} ${id} 0\t${path}\0`
}

/** The hash of a listing in which some paths are replaced or added (by a record) or removed (by null). */
export function hashListing({ bytes, starts }: GitListing, replacements: ReadonlyMap<string, string | null>) {
  const parts: Uint8Array[] = []
  const pathOf = (index: number): string =>
    pathAt(bytes, starts[index] ?? 0, (starts[index + 1] ?? bytes.length) - 1)
  let files = 0
  let next = 0
  const keep = (until: number): void => {
    files += until - next
    // Hash unchanged stretches whole. In a large tree they are nearly everything.
    if (until > next) parts.push(bytes.subarray(starts[next] ?? bytes.length, starts[until] ?? bytes.length))
    next = until
  }
  for (const path of [...replacements.keys()].sort()) {
    keep(lowerBound(next, starts.length, (index) => pathOf(index) < path))
    while (next < starts.length && pathOf(next) === path) next += 1
    const record = replacements.get(path)
    if (typeof record !== 'string') continue
    parts.push(Buffer.from(record, 'latin1'))
    files += 1
  }
  keep(starts.length)
  return { hash: sha256OfParts(parts), files, records: parts }
}

function pathAt(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', bytes.indexOf(tab, start) + 1, end)
}

/** First index that is not below. */
function lowerBound(from: number, to: number, isBelow: (index: number) => boolean): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(middle)) low = middle + 1
    else high = middle
  }
  return low
}
