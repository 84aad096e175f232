import { basename, join, relative } from 'node:path'
import { directoriesIn, namesIn } from '../../io/directory.ts'
import { gitDirectories } from '../../io/git-directories.ts'
import { isDirectory, isFile } from '../../io/path-kind.ts'
import { realPath } from '../../io/resolve-links.ts'
import { isSameEntry, restoreEntry, type SavedEntry, saveEntry } from '../../io/saved-entry.ts'
import { agentFileName } from '../../verifier/agent-file.ts'
import type { TaskTree } from '../open-tree.ts'
import type { EditorWriteLimits } from './write-limits.ts'

export interface PutBack {
  readonly path: string
  readonly why: string
  /** git cannot name it, so it stays as it is. */
  readonly isLeft: boolean
}

/** What the Editor changed where it must not, however it got there, is as it was in `before` afterwards. */
export async function putBackForbidden(
  tree: TaskTree,
  writeLimits: Pick<EditorWriteLimits, 'whyRefused'>,
  before: string,
  /** Given everything that changed since, before anything of it goes: a person's own work may be in it. */
  keep: (patch: Uint8Array) => void,
): Promise<readonly PutBack[]> {
  const now = await tree.take()
  const changed = await tree.changes(before, now)
  const forbidden = changed.flatMap((path) => {
    const why = whyForbidden(tree.root, path, writeLimits)
    return why === null ? [] : [{ path, why }]
  })
  if (forbidden.length > 0) keep(await tree.patch(before, now))
  const left = await tree.putBack(
    before,
    forbidden.map(({ path }) => path),
  )
  return forbidden.map((each) => ({ ...each, isLeft: left.includes(each.path) }))
}

/** A file that is reached through a link counts by where it leads; a link by itself only by where it stands. */
function whyForbidden(
  root: string,
  path: string,
  { whyRefused }: Pick<EditorWriteLimits, 'whyRefused'>,
): string | null {
  const parent = join(root, path, '..')
  const inParent = parent === root ? null : whyRefused(parent)
  return inParent ?? whyRefused(join(root, path))
}

/** By absolute path, what leads to others before them. */
export type GuardedFiles = Readonly<Record<string, SavedEntry>>

/**
 * Files git does not tell about and that must survive the Editor: how the work is verified, even when it is ignored, what git
 * itself would run, and what it would overlook.
 */
export function keepGuarded(root: string): GuardedFiles {
  return Object.fromEntries(guarded(root).map((path) => [path, saveEntry(path)]))
}

/** Puts back what changed and returns the list of it. */
export function putGuardedBack(
  root: string,
  before: GuardedFiles,
  /** `git`: leaves what the states of the tree may hold to them, which keep what is replaced. */
  which: 'git' | 'all' = 'all',
): readonly PutBack[] {
  const told: PutBack[] = []
  const lost: string[] = []
  const agentFiles = agentFilesOf(root)
  const look = (path: string): void => {
    if (which === 'git' && agentFiles.includes(path)) return
    const was = before[path] ?? { kind: 'missing' }
    const is = saveEntry(path)
    if (isSameEntry(was, is) || lost.some((place) => path.startsWith(`${place}/`))) return
    // What is in it is looked at by itself.
    if (was.kind === 'missing' && is.kind === 'directory' && isPlace(path)) return
    // Of a whole repository nothing was kept, and nothing of one is thrown away.
    const isWhole = path === join(root, '.git') && (was.kind === 'directory' || is.kind === 'directory')
    const isLeft = isWhole || !restoreEntry(path, was)
    if (isLeft) lost.push(path)
    told.push({ path: relative(root, path), why, isLeft })
  }
  for (const path of Object.keys(before)) look(path)
  // Only now: where a link led may be no place of git's any more.
  for (const path of guarded(root)) if (before[path] === undefined) look(path)
  return told
}

function isPlace(path: string): boolean {
  return ['.git', 'hooks', 'info'].includes(basename(path))
}

const why = 'it belongs to git or decides how the work is verified'

function guarded(root: string): readonly string[] {
  const git = gitDirectories(root)
  const places =
    git === null ? [] : [...new Set([git.own, git.common, ...modulesIn(join(git.common, 'modules'))])]
  return [...new Set([...agentFilesOf(root), join(root, '.git'), ...places.flatMap(filesOfGit)])]
}

/** With the file that stands elsewhere, where one is a link. */
function agentFilesOf(root: string): readonly string[] {
  const paths = [agentFileName, 'agent.yml'].map((name) => join(root, name))
  return paths.flatMap((path) => (isFile(path) ? [path, realPath(path)] : [path]))
}

function filesOfGit(place: string): readonly string[] {
  const hooks = join(place, 'hooks')
  const plain = [
    'commondir',
    'gitdir',
    'config',
    'config.worktree',
    'info',
    'info/exclude',
    'info/attributes',
  ]
  return [
    ...plain.map((name) => join(place, name)),
    hooks,
    ...(isDirectory(hooks) ? namesIn(hooks).map((name) => join(hooks, name)) : []),
  ]
}

/** git directories of submodules, whose names may have slashes. */
function modulesIn(directory: string, depth = 0): readonly string[] {
  if (depth > maxDepth || !isDirectory(directory)) return []
  return directoriesIn(directory).flatMap((name) => {
    const place = join(directory, name)
    return isFile(join(place, 'HEAD'))
      ? [place, ...modulesIn(join(place, 'modules'), depth + 1)]
      : modulesIn(place, depth + 1)
  })
}

const maxDepth = 6
