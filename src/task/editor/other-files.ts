import { dirname, join } from 'node:path'
import { counted } from '../../core/counted.ts'
import { makeDirectories } from '../../io/directory.ts'
import { fileMark, moveAside } from '../../io/file-state.ts'
import { listFiles, readTextInside } from '../../io/files.ts'
import { removeTree } from '../../io/remove-tree.ts'
import { restoreEntry, type SavedEntry, saveEntry } from '../../io/saved-entry.ts'
import type { TreeEntry } from '../open-tree.ts'
import type { PutBack } from './put-back.ts'

/** Files that git ignores but steps can see: dependencies, outputs, caches, by path relative to the root. */
export interface OtherFiles {
  /** Size, times, inode and mode. The times of a change cannot be set, so a write is always visible. */
  readonly marks: Readonly<Record<string, string>>
}

/** With the content of those that are neither dependencies nor caches, as far as they are small. */
export interface SavedFiles extends OtherFiles {
  readonly saved: Readonly<Record<string, SavedEntry>>
}

/** What is not among them. */
export interface KnownFiles {
  readonly tracked: ReadonlyMap<string, TreeEntry>
  readonly leaveOut: readonly string[]
}

const maxSavedBytes = 16 * 1024 * 1024
const maxMoved = 5_000

export function otherFiles(root: string, { tracked, leaveOut }: KnownFiles): OtherFiles {
  const marks: Record<string, string> = {}
  const isLeft = (path: string, isDirectory: boolean): boolean =>
    leaveOut.includes(path) || (isDirectory ? /(?:^|\/)\.git$/.test(path) : tracked.has(path))
  for (const path of listFiles(root, { exclude: isLeft }))
    marks[path] = fileMark(join(root, path), 0)?.mark ?? ''
  return { marks }
}

export function saveOthers(root: string, known: KnownFiles): SavedFiles {
  const { marks } = otherFiles(root, known)
  const saved: Record<string, SavedEntry> = {}
  let bytes = 0
  for (const [path, mark] of Object.entries(marks)) {
    const size = Number.parseInt(mark, 36)
    if (dependencies.test(path) || caches.test(path) || bytes + size > maxSavedBytes) continue
    saved[path] = saveEntry(join(root, path))
    bytes += size
  }
  return { marks, saved }
}

/** Installed packages. They are too large to be saved. */
export const dependencies =
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
export function putOthersBack(
  root: string,
  before: SavedFiles,
  known: KnownFiles,
  aside: string,
  layers: readonly string[],
): readonly PutBack[] {
  const { marks } = otherFiles(root, known)
  const paths = [...new Set([...Object.keys(before.marks), ...Object.keys(marks)])]
  // A file that git saves now is judged with the tree.
  const changed = paths.filter((path) => before.marks[path] !== marks[path] && !known.tracked.has(path))
  const installed = newPackages(root, changed, before)
  const undone: string[] = []
  const removed: string[] = []
  const left: string[] = []
  for (const [index, path] of changed.entries()) {
    const full = join(root, path)
    const was = before.saved[path] ?? installedEntry(layers, path)
    if (bookkeeping.test(path) || installed.has(packageOf(path) ?? '')) continue
    if (caches.test(path)) {
      removeTree(full)
      removed.push(path)
    } else if (was !== undefined) {
      makeDirectories(dirname(full))
      ;(restoreEntry(full, was) ? undone : left).push(path)
    } else if ((before.marks[path] === undefined || logs.test(path)) && index < maxMoved) {
      makeDirectories(aside)
      ;(moveAside(full, join(aside, path.replaceAll('/', '__').slice(-200))) === null ? undone : left).push(
        path,
      )
    } else left.push(path)
  }
  return [
    ...grouped(undone, 'git ignores it, and steps can see it', false),
    ...grouped(removed, 'it is a cache that is written again', false),
    ...grouped(left, 'git ignores it, and steps can see it', true),
  ]
}

function installedEntry(layers: readonly string[], path: string): SavedEntry | undefined {
  const entries = layers.map((layer) => saveEntry(join(layer, 'workspace', path)))
  return entries.find(({ kind }) => kind === 'file' || kind === 'link')
}

/** Packages that were not there before and that the project declares. */
function newPackages(root: string, changed: readonly string[], before: OtherFiles): ReadonlySet<string> {
  const packages = new Set(changed.map(packageOf).filter((name) => name !== null))
  if (packages.size === 0) return new Set()
  for (const path of Object.keys(before.marks)) packages.delete(packageOf(path) ?? '')
  const declared = manifests
    .map((path) => readTextInside(root, path, { maxBytes: 32 * 1024 * 1024 }))
    .map((found) => (found.kind === 'text' ? found.text : ''))
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

/** One entry per place. */
function grouped(paths: readonly string[], why: string, isLeft: boolean): readonly PutBack[] {
  const places = Map.groupBy(paths, (path) => packageOf(path) ?? path.split('/', 2).join('/'))
  return [...places].map(([place, inside]) => {
    const [first = place] = inside
    const path = inside.length === 1 ? first : `${place} (${counted(inside.length, 'file')})`
    return { path, why, isLeft }
  })
}
