import { relative } from 'node:path'
import { GantryError } from '../core/error.ts'
import { type GitRepository, openRepository } from '../io/git-repository.ts'
import { treeHash } from '../io/tree-hash.ts'

export type HashedTree =
  | { readonly kind: 'hashed'; readonly hash: string }
  /** A file cannot be read, or git does not answer. */
  | { readonly kind: 'failed'; readonly message: string }

/** A repository as it is before the steps run. */
export type LookedAt = Awaited<ReturnType<typeof lookAtTree>>

export async function lookAtTree(repository: string, storeRoot: string) {
  const git = await openRepository(repository)
  return { git, before: await hashTree(repository, storeRoot, git) }
}

/**
 * The hash of a repository. Gantry's files about the run are not part of it, even when they are inside the repository.
 * `git`: opened for this hash only, because its configuration may change before the next one.
 */
export async function hashTree(
  repository: string,
  storeRoot: string,
  git?: GitRepository | null,
): Promise<HashedTree> {
  const own = relative(repository, storeRoot)
  const prefix = own === '' || own.startsWith('..') ? null : `${Buffer.from(own).toString('latin1')}/`
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
