import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Top of the working tree that holds `start`; null when there is none. Git's own search would believe variables and
 * `core.worktree`, which whoever works in the tree can set.
 */
export function findGitTop(start: string): string | null {
  for (let dir = start; ; dir = dirname(dir)) {
    const candidate = join(dir, '.git')
    const stats = statSync(candidate, { throwIfNoEntry: false })
    if (stats?.isFile()) return dir
    if (stats?.isDirectory() && statSync(join(candidate, 'HEAD'), { throwIfNoEntry: false })) return dir
    if (dir === dirname(dir)) return null
  }
}
