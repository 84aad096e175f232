import { join, resolve } from 'node:path'
import { isDirectory } from './path-kind.ts'
import { readShortText } from './read-short-text.ts'

/** The git directories of a working tree. Both are the same except in a linked worktree. */
export interface GitDirectories {
  /** For this working tree only. */
  readonly own: string
  /** Shared by all worktrees: configuration, hooks, objects. */
  readonly common: string
}

/** null when `top` is not the top of a working tree. Does not run git. */
export function gitDirectories(top: string): GitDirectories | null {
  const entry = join(top, '.git')
  const own = isDirectory(entry) ? entry : linked(top, readShortText(entry, maxBytes))
  if (own === null) return null
  const common = (readShortText(join(own, 'commondir'), maxBytes) ?? '').trim()
  return { own, common: common === '' ? own : resolve(own, common) }
}

const maxBytes = 65_536

function linked(top: string, text: string | null): string | null {
  const link = /^gitdir: (.+)$/m.exec(text ?? '')?.[1]
  return link === undefined ? null : resolve(top, link.trim())
}

/** More than any file of ignore patterns written by hand. */
const maxExcludeBytes = 16 * 1024 * 1024

/**
 * The content of git's `info/exclude`, for a linked worktree that of its repository. Empty when there is none. Never blocks, because a
 * program in the tree may have put a pipe there.
 */
export function infoExclude(top: string): string {
  const git = gitDirectories(top)
  return git === null ? '' : (readShortText(join(git.common, 'info', 'exclude'), maxExcludeBytes) ?? '')
}
