import { join, resolve } from 'node:path'
import { isDirectory } from './path-kind.ts'
import { readShortText } from './read-short-text.ts'

/** Where git keeps what belongs to a working tree. Both are one but for a linked worktree. */
export interface GitDirectories {
  /** Of this working tree alone. */
  readonly own: string
  /** Of all that share it: configuration, hooks, objects. */
  readonly common: string
}

/** null when `top` is not the top of a working tree. Reads what git would read, without git. */
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
 * What a repository ignores by a file that is in no tree: git's `info/exclude`, of a linked worktree that of its repository.
 * Empty when there is none. Never waits: a program in the tree may have put a pipe there.
 */
export function infoExclude(top: string): string {
  const git = gitDirectories(top)
  return git === null ? '' : (readShortText(join(git.common, 'info', 'exclude'), maxExcludeBytes) ?? '')
}
