import { join } from 'node:path'
import { gitDirectories } from './git-directories.ts'
import { readShortText } from './read-short-text.ts'

/** More than git would ever be told to overlook by hand. */
const maxBytes = 16 * 1024 * 1024

/**
 * What a repository ignores by a file that is in no tree: git's `info/exclude`, of a linked worktree that of its repository.
 * Empty when there is none. Never waits: whoever works in the tree may have put a pipe there.
 */
export function infoExclude(top: string): string {
  const git = gitDirectories(top)
  return git === null ? '' : (readShortText(join(git.common, 'info', 'exclude'), maxBytes) ?? '')
}
