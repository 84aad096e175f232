import { findGitTop } from '../io/find-git-top.ts'
import { realPath } from '../io/real-path.ts'

/**
 * The project a directory belongs to: the top of its git working tree, a linked worktree's own, or the directory itself where
 * there is no git. Real path, so that a link to the project is the same project.
 */
export function findRoot(directory: string): string {
  const real = realPath(directory)
  return findGitTop(real) ?? real
}
