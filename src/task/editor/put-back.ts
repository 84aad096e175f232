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
  /** git cannot name the path, so it was not restored. */
  readonly isLeft: boolean
}

/** Restores every forbidden change of the Editor to the state `before`. */
export async function putBackForbidden(
  tree: TaskTree,
  writeLimits: Pick<EditorWriteLimits, 'whyRefused'>,
  before: string,
  /** Receives everything that changed since, before it is reverted: the user's own work may be in it. */
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

/** A file behind a linked directory is judged by its real path; a link itself by its own path. */
function whyForbidden(
  root: string,
  path: string,
  { whyRefused }: Pick<EditorWriteLimits, 'whyRefused'>,
): string | null {
  const parent = join(root, path, '..')
  const inParent = parent === root ? null : whyRefused(parent)
  return inParent ?? whyRefused(join(root, path))
}

/** By absolute path. Parents come before their children. */
export type GuardedFiles = Readonly<Record<string, SavedEntry>>

/**
 * Saves files that git does not track and the Editor must not change: the (perhaps ignored) agent.yaml, and the hooks,
 * configuration and ignore files of git.
 */
export function keepGuarded(root: string): GuardedFiles {
  return Object.fromEntries(guarded(root).map((path) => [path, saveEntry(path)]))
}

/** Restores what changed and returns the list. */
export function putGuardedBack(
  root: string,
  before: GuardedFiles,
  /** `git`: leaves agent.yaml to `putBackForbidden`, which saves what it replaces. */
  which: 'git' | 'all' = 'all',
): readonly PutBack[] {
  const restored: PutBack[] = []
  const lost: string[] = []
  const agentFiles = agentFilesOf(root)
  const look = (path: string): void => {
    if (which === 'git' && agentFiles.includes(path)) return
    const was = before[path] ?? { kind: 'missing' }
    const is = saveEntry(path)
    if (isSameEntry(was, is) || lost.some((place) => path.startsWith(`${place}/`))) return
    // Its entries are checked one by one.
    if (was.kind === 'missing' && is.kind === 'directory' && isPlace(path)) return
    // The whole `.git` directory was not saved, and is never deleted.
    const isWhole = path === join(root, '.git') && (was.kind === 'directory' || is.kind === 'directory')
    const isLeft = isWhole || !restoreEntry(path, was)
    if (isLeft) lost.push(path)
    restored.push({ path: relative(root, path), why, isLeft })
  }
  for (const path of Object.keys(before)) look(path)
  // After the first loop, because restoring a link changes which files count.
  for (const path of guarded(root)) if (before[path] === undefined) look(path)
  return restored
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

/** Includes the target of a link. */
function agentFilesOf(root: string): readonly string[] {
  const paths = [agentFileName, 'agent.yml'].map((name) => join(root, name))
  return paths.flatMap((path) => (isFile(path) ? [path, realPath(path)] : [path]))
}

function filesOfGit(place: string): readonly string[] {
  const hooks = join(place, 'hooks')
  const plain = 'commondir gitdir config config.worktree info info/exclude info/attributes'
  return [
    ...plain.split(' ').map((name) => join(place, name)),
    hooks,
    ...(isDirectory(hooks) ? namesIn(hooks).map((name) => join(hooks, name)) : []),
  ]
}

/** Git directories of submodules. Their names may contain slashes. */
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
