import { dirname, join, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import { findGitTop } from '../io/find-git-top.ts'
import { isDirectory, isMissing } from '../io/path-kind.ts'
import { realPath } from '../io/resolve-links.ts'
import { agentFileName } from './contract.ts'

/**
 * Real path of the repository around a directory: the directory of the nearest agent.yaml upward, but never above the git working tree.
 * With `named`, the user gave another file; then it is the git working tree, or the directory itself without git.
 */
export function findRepository(directory: string, { named = false } = {}): string {
  if (!isDirectory(directory)) {
    throw new GantryError('NOT_FOUND', `${directory} is not a directory`, {
      hint: 'Give the repository with --root DIR.',
    })
  }
  const start = realPath(resolve(directory))
  const top = findGitTop(start)
  return (named ? null : upward(start, top)) ?? top ?? start
}

function upward(start: string, top: string | null): string | null {
  for (let here = start; ; here = dirname(here)) {
    // Anything with this name counts, even a dangling symlink: reading it reports the problem.
    if (!isMissing(join(here, agentFileName))) return here
    if (here === top || here === dirname(here)) return null
  }
}
