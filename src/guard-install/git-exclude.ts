import { dirname, join, relative, sep } from 'node:path'
import { GantryError } from '../core/error.ts'
import { backupEnding, excludeTitle } from '../guard-engine/hook-files.ts'
import { makeDirectories, namesIn, readTextIfExists } from '../io/directory.ts'
import { writeFileAtomic } from '../io/files.ts'
import { findGitTop } from '../io/find-git-top.ts'
import { gitDirectories } from '../io/git-directories.ts'
import { isFile } from '../io/path-kind.ts'
import { readShortText } from '../io/read-short-text.ts'
import { realPath } from '../io/resolve-links.ts'

/**
 * Makes git ignore a hook file and its backups, in `info/exclude` of the repository, which no clone gets and all worktrees share. A file
 * that git tracks stays tracked. Outside a repository, or where the list cannot be written, nothing happens.
 */
export function excludeFromGit(path: string): void {
  changeExclude(path, (lines, own) => {
    const missing = own.filter((line) => !lines.includes(line))
    if (missing.length === 0) return lines
    const at = lines.indexOf(excludeTitle)
    if (at >= 0) return [...lines.slice(0, at + 1), ...missing, ...lines.slice(at + 1)]
    return [...(lines.at(-1) === '' ? lines.slice(0, -1) : lines), excludeTitle, ...missing, '']
  })
}

/** Whether git has the file in its index, so that ignoring it has no effect. */
export function isTracked(path: string): boolean {
  const top = findGitTop(dirname(path))
  const git = top === null ? null : gitDirectories(top)
  const index = git === null ? null : readShortText(join(git.own, 'index'), maxIndexBytes)
  return top !== null && index?.includes(`${relative(top, path).split(sep).join('/')}\0`) === true
}

const maxIndexBytes = 64 * 1024 * 1024

/** Takes the lines back, unless another worktree of the repository still has the file. */
export function includeInGit(path: string): void {
  const isElsewhere = worktreesOf(dirname(path)).some(({ top, here }) =>
    isFile(join(top, relative(here, path))),
  )
  if (isElsewhere) return
  changeExclude(path, (lines, own) => {
    const rest = lines.filter((line) => !own.includes(line))
    const at = rest.indexOf(excludeTitle)
    return at >= 0 && !rest[at + 1]?.startsWith('/') ? rest.toSpliced(at, 1) : rest
  })
}

function changeExclude(
  path: string,
  change: (lines: readonly string[], own: readonly string[]) => readonly string[],
): void {
  const top = findGitTop(dirname(path))
  const git = top === null ? null : gitDirectories(top)
  if (top === null || git === null) return
  const name = relative(top, path)
    .split(sep)
    .join('/')
    .replaceAll(/[*?[\\]/g, '\\$&')
  const file = join(git.common, 'info', 'exclude')
  try {
    const text = readTextIfExists(file) ?? ''
    const after = change(text.split('\n'), [`/${name}`, `/${name}${backupEnding}`]).join('\n')
    if (after === text) return
    makeDirectories(dirname(file))
    writeFileAtomic(file, after)
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
  }
}

/** The other working trees of a repository, each with the top of the one that contains the directory. */
export function worktreesOf(directory: string): readonly { readonly top: string; readonly here: string }[] {
  const here = findGitTop(directory)
  const git = here === null ? null : gitDirectories(here)
  if (here === null || git === null) return []
  const linked = namesIn(join(git.common, 'worktrees')).flatMap((name) => {
    const pointer = readShortText(join(git.common, 'worktrees', name, 'gitdir'), 4096)?.trim()
    return pointer === undefined || pointer === '' ? [] : [dirname(pointer)]
  })
  const main = git.common.endsWith(`${sep}.git`) ? [dirname(git.common)] : []
  return [...main, ...linked]
    .filter((top) => findGitTop(top) === top && realPath(top) !== realPath(here))
    .map((top) => ({ top, here }))
}
