import { lstatSync, type Stats } from 'node:fs'
import { fileBlobId, linkBlobId } from './blob-id.ts'
import { allowing, translated } from './fs-error.ts'
import { joinPath, listDirectory, type Path, showPath } from './list-directory.ts'

interface SnapshotEntry {
  readonly kind: 'file' | 'link' | 'directory' | 'other'
  /** Permission bits; 0 for links, which have none. */
  readonly mode: number
  readonly bytes: number
  /** Of the content or of the link's target. null: not known, see `SnapshotOptions.against`, or unreadable. */
  readonly hash: string | null
}

/** What is in a directory, by path relative to it, with `/`. Directories are there only when they are empty. */
export type TreeSnapshot = ReadonlyMap<string, SnapshotEntry>

export interface SnapshotOptions {
  /** Called with the path relative to the root, with `/`. A directory that is excluded is not entered. */
  readonly exclude?: (relativePath: string, isDirectory: boolean) => boolean
  /** An earlier snapshot: files that are new or have another size are not read, since they differ anyway. */
  readonly against?: TreeSnapshot
}

export interface SnapshotDelta {
  readonly created: readonly string[]
  readonly changed: readonly string[]
  readonly deleted: readonly string[]
}

/** Reads contents, because times can be reset. Unreadable files are recorded as such and not an error. */
export function snapshotTree(root: string, { exclude, against }: SnapshotOptions = {}): TreeSnapshot {
  const found = new Map<string, SnapshotEntry>()
  const visit = (directory: Path, prefix: string): void => {
    const entries = readable(() => listDirectory(directory))
    if (entries === null || (entries.length === 0 && prefix !== ''))
      found.set(prefix.slice(0, -1), {
        kind: 'directory',
        mode: (statsOf(directory)?.mode ?? 0) & 0o7777,
        bytes: 0,
        hash: null,
      })
    for (const entry of entries ?? []) {
      const name = prefix + showPath(entry.name)
      if (exclude?.(name, entry.isDirectory())) continue
      const path = joinPath(directory, entry.name)
      if (entry.isDirectory()) visit(path, `${name}/`)
      else {
        const taken = entryAt(path, against?.get(name), against !== undefined)
        if (taken !== null) found.set(name, taken)
      }
    }
  }
  translated(`read ${root}`, () => visit(root, ''))
  return found
}

export function diffSnapshots(before: TreeSnapshot, after: TreeSnapshot): SnapshotDelta {
  const [parentsBefore, parentsAfter] = [parentsOf(before), parentsOf(after)]
  // A directory that became empty, or is no longer, was neither created nor deleted.
  const created = [...after].filter(
    ([path, { kind }]) => !before.has(path) && !(kind === 'directory' && parentsBefore.has(path)),
  )
  const deleted = [...before].filter(
    ([path, { kind }]) => !after.has(path) && !(kind === 'directory' && parentsAfter.has(path)),
  )
  const changed = [...after].filter(([path, entry]) => {
    const old = before.get(path)
    return old !== undefined && differs(old, entry)
  })
  return { created: sortedPaths(created), changed: sortedPaths(changed), deleted: sortedPaths(deleted) }
}

function parentsOf(snapshot: TreeSnapshot): Set<string> {
  const parents = new Set<string>()
  for (const path of snapshot.keys())
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const parent = path.slice(0, at)
      if (parents.has(parent)) break
      parents.add(parent)
    }
  return parents
}

function differs(a: SnapshotEntry, b: SnapshotEntry): boolean {
  return a.kind !== b.kind || a.mode !== b.mode || a.bytes !== b.bytes || a.hash !== b.hash
}

function sortedPaths(entries: readonly (readonly [string, SnapshotEntry])[]): string[] {
  return entries.map(([path]) => path).sort()
}

function entryAt(path: Path, old: SnapshotEntry | undefined, compareOnly: boolean): SnapshotEntry | null {
  const stats = statsOf(path)
  if (stats === null) return null
  const mode = stats.mode & 0o7777
  if (stats.isSymbolicLink())
    return { kind: 'link', mode: 0, bytes: 0, hash: readable(() => linkBlobId(path)) }
  if (!stats.isFile()) return { kind: 'other', mode, bytes: 0, hash: null }
  const differsAnyway = compareOnly && (old?.kind !== 'file' || old.bytes !== stats.size)
  return {
    kind: 'file',
    mode,
    bytes: stats.size,
    hash: differsAnyway ? null : readable(() => fileBlobId(path)),
  }
}

function readable<T>(look: () => T): T | null {
  return allowing(unreadable, look) ?? null
}

/** Names too long are those of directories nested deeper than a path can name. */
const unreadable = ['EACCES', 'EPERM', 'ENOENT', 'ELOOP', 'ENXIO', 'EIO', 'ENAMETOOLONG']

function statsOf(path: Path): Stats | null {
  return readable(() => lstatSync(path, { throwIfNoEntry: false }) ?? null)
}
