import { join, resolve } from 'node:path'
import { readTextIfExists } from './directory.ts'
import { isDirectory } from './path-kind.ts'

/**
 * What a repository ignores by a file that is in no tree: git's `info/exclude`, of a linked worktree that of its repository.
 * Empty when there is none.
 */
export function infoExclude(top: string): string {
  const entry = join(top, '.git')
  if (isDirectory(entry)) return readTextIfExists(join(entry, 'info', 'exclude')) ?? ''
  const link = /^gitdir: (.+)$/m.exec(readTextIfExists(entry) ?? '')?.[1]
  if (link === undefined) return ''
  const own = resolve(top, link.trim())
  const common = readTextIfExists(join(own, 'commondir'))?.trim()
  const directory = common === undefined ? own : resolve(own, common)
  return readTextIfExists(join(directory, 'info', 'exclude')) ?? ''
}
