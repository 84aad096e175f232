import { dirname, join } from 'node:path'
import { counted } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import { copyTree } from '../../io/copy-tree.ts'
import { makeDirectories } from '../../io/directory.ts'
import { fileMark, moveAside } from '../../io/file-state.ts'
import { listFiles } from '../../io/files.ts'
import { entryKind } from '../../io/path-kind.ts'
import { textInside } from '../../io/read-text-inside.ts'
import { removeTree } from '../../io/remove-tree.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import type { TreeEntry } from '../open-tree.ts'
import type { PutBack } from './put-back.ts'

/** Files that git ignores but steps can see: dependencies, outputs, caches, by path relative to the root. */
export interface OtherFiles {
  /** Size, times, inode and mode. The times of a change cannot be set, so a write is always visible. */
  readonly marks: Readonly<Record<string, string>>
}

export interface SavedFiles extends OtherFiles {
  /** The marks of those with a copy: all but dependencies, caches and what is too much. */
  readonly saved: Readonly<Record<string, string>>
}

/** What is not among them. */
export interface KnownFiles {
  readonly tracked: ReadonlyMap<string, TreeEntry>
  readonly leaveOut: readonly string[]
}

const maxSavedBytes = 4 * 1024 ** 3

export function otherFiles(root: string, { tracked, leaveOut }: KnownFiles): OtherFiles {
  const marks: Record<string, string> = {}
  const isLeft = (path: string, isDirectory: boolean): boolean =>
    leaveOut.includes(path) || (isDirectory ? /(?:^|\/)\.git$/.test(path) : tracked.has(path))
  for (const path of listFiles(root, { exclude: isLeft })) marks[path] = markOf(root, path)
  return { marks }
}

/** Of a link that stays inside only its own: what it leads to, such as another package of a workspace, has a path itself. */
function markOf(root: string, path: string): string {
  const { kind, mark = '' } = fileMark(join(root, path), 0) ?? {}
  const isInner = kind === 'link' && resolveInside(root, path).kind === 'inside'
  return isInner ? mark.replace(/ .*/, '') : mark
}

/** Copies them to `place`, which has those that were `saved` before. */
export async function saveOthers(
  root: string,
  known: KnownFiles,
  place: string,
  before: SavedFiles['saved'],
): Promise<SavedFiles> {
  const { marks } = otherFiles(root, known)
  const saved: Record<string, string> = {}
  let bytes = 0
  for (const [path, mark] of Object.entries(marks)) {
    const size = Number.parseInt(mark, 36)
    if (dependencies.test(path) || caches.test(path) || bytes + size > maxSavedBytes) continue
    saved[path] = mark
    bytes += size
  }
  const changed = Object.keys(saved).filter((path) => before[path] !== saved[path])
  try {
    await copySome(root, place, changed)
    return { marks, saved }
  } catch (error) {
    // Perhaps a file that cannot be read. What was not saved cannot be undone, and makes the result WEAKENED.
    if (!(error instanceof GantryError)) throw error
    return { marks, saved: {} }
  }
}

/** Copies only these files, with their times: a build compares them with those of its sources. */
async function copySome(from: string, to: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return
  const wanted = new Set(paths)
  for (const path of paths)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      wanted.add(path.slice(0, end))
  await copyTree(from, to, { exclude: (path) => !wanted.has(path), keepsOutside: true, keepsTimes: true })
}

/** Installed packages. They are too large to be saved. */
const dependencies =
  /(?:^|\/)(?:node_modules|bower_components|\.venv|venv|site-packages|vendor|\.yarn|Pods)\//
const caches =
  /(?:^|\/)(?:coverage|\.nyc_output|__pycache__|\.mypy_cache|\.pytest_cache|\.ruff_cache|\.cache|\.vite|\.vite-temp|\.vitest|\.turbo|\.parcel-cache)\/|\.pyc$|\.tsbuildinfo$|(?:^|\/)\.(?:eslintcache|coverage|DS_Store)$/
const logs = /\.log$/
/** Written by every installation. */
const bookkeeping =
  /(?:^|\/)node_modules\/(?:\.package-lock\.json|\.yarn-integrity|\.modules\.yaml|\.yarn-state\.yml)$/

/**
 * Undoes what a turn of the Editor changed in them: a new file is moved to `aside`, a saved one restored, a cache removed. A package that
 * is new and declared stays. What setup has installed is restored from its layers. `isLeft`: the change could not be undone.
 */
export async function putOthersBack(
  root: string,
  before: SavedFiles,
  known: KnownFiles,
  {
    aside,
    place,
    layers,
  }: { readonly aside: string; readonly place: string; readonly layers: readonly string[] },
): Promise<readonly PutBack[]> {
  const { marks } = otherFiles(root, known)
  const paths = [...new Set([...Object.keys(before.marks), ...Object.keys(marks)])]
  // A file that git saves now is judged with the tree.
  const all = paths.filter((path) => before.marks[path] !== marks[path] && !known.tracked.has(path))
  const installed = newPackages(root, all, before)
  const changed = all.filter((path) => !bookkeeping.test(path) && !installed.has(packageOf(path) ?? ''))
  const sourceOf = (path: string): string | undefined =>
    before.saved[path] === undefined
      ? layers.map((layer) => join(layer, 'workspace')).find((layer) => isCopy(entryKind(join(layer, path))))
      : place
  const {
    moved = [],
    removed = [],
    restored = [],
    left = [],
  } = Object.groupBy(changed, (path) => {
    if (caches.test(path)) return 'removed'
    if (sourceOf(path) !== undefined) return 'restored'
    return before.marks[path] === undefined || logs.test(path) ? 'moved' : 'left'
  })
  // First of all, because a new link may have the place of a directory and lead anywhere.
  if (moved.length > 0) makeDirectories(aside)
  const stuck = moved.filter((path) => {
    const to = join(aside, path.replaceAll('/', '__').slice(-200))
    return !isInPlace(root, path) || moveAside(join(root, path), to) !== null
  })
  const lost = [...removed, ...restored].filter((path) => !isInPlace(root, path))
  const reached = (path: string): boolean => !lost.includes(path)
  for (const path of [...removed, ...restored].filter(reached)) removeTree(join(root, path))
  const sources = Map.groupBy(restored.filter(reached), sourceOf)
  for (const [source = place, some] of sources) await copySome(source, root, some)
  const isDone = (path: string): boolean => !lost.includes(path) && !stuck.includes(path)
  const modules = [...known.tracked].flatMap(([path, { mode }]) => (mode === '160000' ? [`${path}/`] : []))
  const why = (path: string): string =>
    modules.some((each) => path.startsWith(each))
      ? 'it is a file of a submodule, which a task does not change'
      : 'it is not a file of this repository, and steps can see it'
  return [
    ...grouped([...moved, ...restored].filter(isDone), why, false),
    ...grouped(removed.filter(isDone), () => ofCache, false),
    ...grouped([...left, ...lost, ...stuck], why, true),
  ]
}

function isCopy(kind: ReturnType<typeof entryKind>): boolean {
  return kind === 'file' || kind === 'link'
}

/** No directory above it is a link now. */
function isInPlace(root: string, path: string): boolean {
  const parent = resolveInside(root, dirname(path))
  return parent.kind !== 'outside' && parent.path === join(root, dirname(path))
}

/** Packages that were not there before and that the project declares. */
function newPackages(root: string, changed: readonly string[], before: OtherFiles): ReadonlySet<string> {
  const packages = new Set(changed.map(packageOf).filter((name) => name !== null))
  if (packages.size === 0) return new Set()
  for (const path of Object.keys(before.marks)) packages.delete(packageOf(path) ?? '')
  const declared = manifests
    .map((path) => textInside(root, path, 32 * 1024 * 1024) ?? '')
    .join('\n')
    .toLowerCase()
  const isDeclared = (place: string): boolean => {
    const name = place.replace(/^.*(?:node_modules|site-packages)\//, '').replace(/-[\d.]+\.dist-info$/, '')
    const spellings = [name, name.replaceAll('_', '-')].map((each) => each.toLowerCase())
    return spellings.some((each) => new RegExp(`(?<![\\w-])${RegExp.escape(each)}(?![\\w-])`).test(declared))
  }
  return new Set([...packages].filter(isDeclared))
}

const manifests =
  'package.json package-lock.json pnpm-lock.yaml yarn.lock bun.lock requirements.txt requirements-dev.txt pyproject.toml poetry.lock uv.lock Pipfile Pipfile.lock'.split(
    ' ',
  )

/** The directory of the package that contains a file; null outside of one. */
function packageOf(path: string): string | null {
  return /^(.*(?:^|\/)(?:node_modules|site-packages)\/(?:@[^/]+\/)?[^/@.][^/]*)\//.exec(path)?.[1] ?? null
}

export const ofCache = 'it is a cache that is written again'

/** One entry per place. */
function grouped(
  paths: readonly string[],
  why: (path: string) => string,
  isLeft: boolean,
): readonly PutBack[] {
  const places = Map.groupBy(paths, (path) => packageOf(path) ?? path.split('/', 2).join('/'))
  return [...places].map(([place, inside]) => {
    const [first = place] = inside
    const path = inside.length === 1 ? first : `${place} (${counted(inside.length, 'file')})`
    return { path, why: why(first), isLeft }
  })
}
