import { statSync } from 'node:fs'
import { dirname, sep } from 'node:path'

/**
 * Top of the working tree that holds `start`; null when there is none. Git's own search would believe variables and
 * `core.worktree`, which any program working in the tree can set.
 */
export function findGitTop(start: string): string | null {
  for (let dir = start; ; dir = dirname(dir)) {
    // Not joined: to normalise what is normal takes a hook a millisecond on its way up.
    const candidate = `${dir}${dir.endsWith(sep) ? '' : sep}.git`
    const stats = statSync(candidate, { throwIfNoEntry: false })
    if (stats?.isFile()) return dir
    if (stats?.isDirectory() && statSync(`${candidate}${sep}HEAD`, { throwIfNoEntry: false })) return dir
    if (dir === dirname(dir)) return null
  }
}
