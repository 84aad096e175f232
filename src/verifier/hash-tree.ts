import { relative } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { GitRepository } from '../io/git-repository.ts'
import { treeHash } from '../io/tree-hash.ts'

export type HashedTree =
  | { readonly kind: 'hashed'; readonly hash: string }
  /** A file cannot be read, git does not answer. */
  | { readonly kind: 'failed'; readonly message: string }

/**
 * The hash of a repository. What Gantry writes about the run is no part of it, even when it is kept inside the repository. `git`: what
 * was opened for this look; not for a later one, because its configuration may be another by then.
 */
export async function hashTree(
  repository: string,
  runDir: string,
  git?: GitRepository | null,
): Promise<HashedTree> {
  const own = relative(repository, runDir)
  const isInside = own !== '' && !own.startsWith('..')
  // `<store>/runs/<id>`: the index and the logs of the store stand above.
  const store = isInside ? Buffer.from(own).toString('latin1').split('/').slice(0, -2) : []
  const prefix = store.length === 0 ? null : `${store.join('/')}/`
  try {
    const { hash } = await treeHash(repository, {
      ...(git !== undefined && { repository: git }),
      ...(prefix !== null && { leaveOut: (path) => path.startsWith(prefix) }),
    })
    return { kind: 'hashed', hash }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return { kind: 'failed', message: error.message }
  }
}
