import { join, resolve } from 'node:path'
import { isDirectory } from './path-kind.ts'
import { readShortText } from './read-short-text.ts'

/**
 * What a repository ignores by a file that is in no tree: git's `info/exclude`, of a linked worktree that of its repository.
 * Empty when there is none.
 */
export function infoExclude(top: string): string {
  const entry = join(top, '.git')
  if (isDirectory(entry)) return textAt(join(entry, 'info', 'exclude'))
  const link = /^gitdir: (.+)$/m.exec(textAt(entry))?.[1]
  if (link === undefined) return ''
  const own = resolve(top, link.trim())
  const common = textAt(join(own, 'commondir')).trim()
  const directory = common === '' ? own : resolve(own, common)
  return textAt(join(directory, 'info', 'exclude'))
}

/** More than git would ever be told to overlook by hand. */
const maxBytes = 16 * 1024 * 1024

/** Never waits: whoever works in the tree may have put a pipe there. */
function textAt(path: string): string {
  return readShortText(path, maxBytes) ?? ''
}
