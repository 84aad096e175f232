import { statSync } from 'node:fs'
import { dirname, sep } from 'node:path'

/**
 * Top of the working tree that contains `start`; null when there is none. Git's own search would trust variables and `core.worktree`,
 * which any program in the tree can set.
 */
export function findGitTop(start: string): string | null {
  for (let dir = start; ; dir = dirname(dir)) {
    // Not `join`, because normalizing costs a hook a millisecond.
    const candidate = `${dir}${dir.endsWith(sep) ? '' : sep}.git`
    const stats = statSync(candidate, { throwIfNoEntry: false })
    if (stats?.isFile()) return dir
    if (stats?.isDirectory() && statSync(`${candidate}${sep}HEAD`, { throwIfNoEntry: false })) return dir
    if (dir === dirname(dir)) return null
  }
}
