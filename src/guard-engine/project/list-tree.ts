import { openRepository } from '../../io/git-repository.ts'
import { joinPath, listDirectory, type Path, toBytes } from '../../io/list-directory.ts'
import { gitTimeoutMs } from '../facts/tree-fingerprint.ts'

export interface ProjectListing {
  /** Files and directories to the wanted depth, one character per byte; directories end in `/`. */
  readonly known: ReadonlySet<string>
  /** false: the walk ended at its bound, and there may be more. */
  readonly complete: boolean
}

/** What is in a project to some depth. Git knows what is ignored; where there is none, a walk takes all but the usual names. */
export async function listTree(root: string, depth: number): Promise<ProjectListing> {
  const listed = await listWithGit(root, depth)
  // A directory that the repository around it ignores has nothing git would list.
  return listed !== null && listed.size > 0 ? { known: listed, complete: true } : walkTree(root, depth)
}

async function listWithGit(root: string, depth: number): Promise<ReadonlySet<string> | null> {
  const repository = await openRepository(root, { timeoutMs: gitTimeoutMs })
  if (repository === null) return null
  const { exitCode, stdout } = await repository.run(
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z'],
    { cwd: root },
  )
  if (exitCode !== 0) return null
  const known = new Set<string>()
  let last = ''
  for (const path of stdout.toString('latin1').split('\0')) {
    // Files of one deep directory come one after the other: nothing new is to be learnt from all but the first.
    if (path === '' || (last !== '' && path.startsWith(last))) continue
    last = addPath(known, path, depth)
  }
  return known
}

/** Adds the entries on the way to a file. Returns the directory below which nothing more is wanted, or nothing. */
function addPath(known: Set<string>, path: string, depth: number): string {
  let start = 0
  for (let level = 0; level < depth; level += 1) {
    const slash = path.indexOf('/', start)
    const name = slash === -1 ? path.slice(start) : path.slice(start, slash)
    if (name === '') return ''
    const entry = slash === -1 ? path : path.slice(0, slash + 1)
    if (isIgnoredName(name)) return slash === -1 ? '' : entry
    known.add(entry)
    if (slash === -1) return ''
    start = slash + 1
  }
  return path.slice(0, start)
}

const maxDirectories = 2000
const maxEntries = 20_000

/** Level by level, so that a bound cuts off the deepest. Links are listed and not followed. */
export function walkTree(root: string, depth: number): ProjectListing {
  const known = new Set<string>()
  let level: { readonly directory: Path; readonly prefix: string }[] = [{ directory: root, prefix: '' }]
  let read = 0
  for (let left = depth; left > 0 && level.length > 0; left -= 1) {
    const next: typeof level = []
    for (const { directory, prefix } of level) {
      if (read === maxDirectories || known.size >= maxEntries) return { known, complete: false }
      read += 1
      for (const entry of entriesOf(directory)) {
        const name = toBytes(entry.name).toString('latin1')
        if (isIgnoredName(name)) continue
        if (!entry.isDirectory()) known.add(prefix + name)
        else {
          known.add(`${prefix}${name}/`)
          next.push({ directory: joinPath(directory, entry.name), prefix: `${prefix}${name}/` })
        }
      }
    }
    level = next.sort((a, b) => (a.prefix < b.prefix ? -1 : 1))
  }
  return { known, complete: true }
}

/** A directory that is closed to us, or just went away, tells nothing. */
function entriesOf(directory: Path): ReturnType<typeof listDirectory> {
  try {
    return listDirectory(directory)
  } catch {
    return []
  }
}

/** Never part of what is told about a project, whether git ignores it or not. */
const names = new Set([
  'node_modules',
  '.git',
  '.harness',
  '__pycache__',
  '.venv',
  '.ruff_cache',
  '.pytest_cache',
  '.cursor',
  '.coverage',
])

function isIgnoredName(name: string): boolean {
  return names.has(name) || name.endsWith('.pyc')
}

interface SelectedEntries {
  /** Sorted; directories end in `/`. */
  readonly entries: readonly string[]
  /** How many more there are to the same depth. */
  readonly omitted: number
}

/**
 * At most `max` entries of a tree, the upper levels first. Where a level does not fit, every directory gives its first
 * entries in turn, so that none is left out because of its name. Which ones depends on nothing but the names.
 */
export function selectEntries(
  known: Iterable<string>,
  options: { readonly depth: number; readonly max: number; readonly isThere?: (entry: string) => boolean },
): SelectedEntries {
  const { depth, max, isThere = () => true } = options
  const levels: Map<string, string[]>[] = []
  let omitted = 0
  for (const entry of known) {
    const level = levelOf(entry)
    if (level >= depth) continue
    const byParent = levels[level] ?? new Map<string, string[]>()
    levels[level] = byParent
    const parent = parentOf(entry)
    const siblings = byParent.get(parent)
    if (siblings === undefined) byParent.set(parent, [entry])
    else siblings.push(entry)
    omitted += 1
  }
  const entries: string[] = []
  for (const byParent of levels) {
    if (byParent === undefined) continue
    for (const entry of inTurns(byParent)) {
      if (entries.length === max) return { entries: entries.sort(), omitted }
      omitted -= 1
      if (isThere(entry)) entries.push(entry)
    }
  }
  return { entries: entries.sort(), omitted }
}

/** The first of each directory, then the second of each, and so on. */
function* inTurns(byParent: ReadonlyMap<string, string[]>): Generator<string> {
  const groups = [...byParent.keys()].sort().map((parent) => (byParent.get(parent) ?? []).sort())
  const longest = Math.max(0, ...groups.map((group) => group.length))
  for (let turn = 0; turn < longest; turn += 1)
    for (const group of groups) {
      const entry = group[turn]
      if (entry !== undefined) yield entry
    }
}

/** 0 for what stands in the root. */
function levelOf(entry: string): number {
  let level = 0
  for (let at = entry.indexOf('/'); at !== -1 && at < entry.length - 1; at = entry.indexOf('/', at + 1))
    level += 1
  return level
}

function parentOf(entry: string): string {
  return entry.slice(0, entry.lastIndexOf('/', entry.length - 2) + 1)
}
