import { openRepository } from '../../io/git-repository.ts'
import { joinPath, listIfReadable, type Path, toBytes } from '../../io/list-directory.ts'
import type { TreeHash } from '../../io/tree-hash.ts'
import { gitTimeoutMs } from '../facts/tree-changes.ts'
import { isByproduct } from '../generated-directories.ts'
import { planCommandSource } from './command-sources.ts'

export interface ProjectListing {
  /** Files and directories to the requested depth, one character per byte. Directories end in `/`. */
  readonly known: ReadonlySet<string>
  /** false when the walk reached its limit and there may be more. */
  readonly complete: boolean
}

/** Lists a project to a given depth. Git knows what is ignored. Without git, a walk skips well-known names. */
export async function listTree(
  root: string,
  depth: number,
  tree: TreeHash | null = null,
): Promise<ProjectListing> {
  const listed = tree?.method === 'git' ? listedIn(tree, depth) : await listWithGit(root, depth)
  // Git lists nothing in a directory that the surrounding repository ignores.
  return listed !== null && listed.size > 0 ? { known: listed, complete: true } : walkTree(root, depth)
}

async function listWithGit(root: string, depth: number): Promise<ReadonlySet<string> | null> {
  const repository = await openRepository(root, { timeoutMs: gitTimeoutMs })
  if (repository === null) return null
  const { exitCode, stdout } = await repository.run(
    ['ls-files', '--cached', '--others', '--exclude-standard', '-z'],
    { cwd: root },
  )
  return exitCode === 0 ? knownIn(stdout.toString('latin1').split('\0'), depth) : null
}

function listedIn({ records }: TreeHash, depth: number): ReadonlySet<string> {
  const lines = Buffer.concat(records).toString('latin1').split('\0')
  // The plan is hashed apart from the tree.
  return knownIn([planCommandSource, ...lines.map((line) => line.slice(line.indexOf('\t') + 1))], depth)
}

function knownIn(paths: readonly string[], depth: number): ReadonlySet<string> {
  const known = new Set<string>()
  let last = ''
  for (const path of paths) {
    // Files of one deep directory follow each other, so all but the first add nothing new.
    if (path === '' || (last !== '' && path.startsWith(last))) continue
    last = addPath(known, path, depth)
  }
  return known
}

/** Adds the entries on the path to a file. Returns the directory below which nothing more is needed, if any. */
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

/** Level by level, so that the limit cuts off the deepest entries. Links are listed but not followed. */
export function walkTree(root: string, depth: number): ProjectListing {
  const known = new Set<string>()
  let level: { readonly directory: Path; readonly prefix: string }[] = [{ directory: root, prefix: '' }]
  let read = 0
  for (let left = depth; left > 0 && level.length > 0; left -= 1) {
    const next: typeof level = []
    for (const { directory, prefix } of level) {
      if (read === maxDirectories || known.size >= maxEntries) return { known, complete: false }
      read += 1
      for (const entry of listIfReadable(directory)) {
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

/** Never listed, whether git ignores it or not. */
function isIgnoredName(name: string): boolean {
  return isByproduct(name) || name === '.git' || name === '.cursor'
}

interface SelectedEntries {
  /** Sorted; directories end in `/`. */
  readonly entries: readonly string[]
  /** How many more exist to the same depth. */
  readonly omitted: number
}

/**
 * At most `max` entries of a tree, upper levels first. If a level does not fit, the directories take turns, so that none is left out
 * because of its name. The choice depends only on the names.
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
    const parent = entry.slice(0, entry.lastIndexOf('/', entry.length - 2) + 1)
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

/** The first entry of each directory, then the second of each, and so on. */
function* inTurns(byParent: ReadonlyMap<string, string[]>): Generator<string> {
  const groups = [...byParent.keys()].sort().map((parent) => (byParent.get(parent) ?? []).sort())
  const longest = Math.max(0, ...groups.map((group) => group.length))
  for (let turn = 0; turn < longest; turn += 1)
    for (const group of groups) {
      const entry = group[turn]
      if (entry !== undefined) yield entry
    }
}

/** 0 for an entry in the root. */
function levelOf(entry: string): number {
  let level = 0
  for (let at = entry.indexOf('/'); at !== -1 && at < entry.length - 1; at = entry.indexOf('/', at + 1))
    level += 1
  return level
}
