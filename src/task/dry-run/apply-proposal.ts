import type { TaskTree } from '../tree/open-tree.ts'
import { fingerprints, type Proposal } from './proposal.ts'

export type Applied =
  | { readonly kind: 'applied'; readonly files: readonly string[] }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly reason: string; readonly conflicts: readonly string[] }

/**
 * Brings a proposal into the tree, wholly or not at all. `whyRefused` is the write boundary: a path it refuses refuses the whole
 * proposal. So does a file that is no longer what the proposal was made on, and a patch that touches more than it says.
 */
export async function applyProposal(
  tree: TaskTree,
  proposal: Proposal,
  whyRefused: (path: string) => string | null,
): Promise<Applied> {
  const paths = proposal.changes.map(({ path }) => path)
  const outside = paths.flatMap((path) => {
    const why = whyRefused(path)
    return why === null ? [] : [`${path}: ${why}`]
  })
  if (outside.length > 0) return refused('the proposal would write where it must not', outside)
  const before = await tree.take()
  const now = await fingerprints(tree, before, paths)
  const moved = proposal.changes.flatMap(({ path, original }) => {
    const is = now.get(path) ?? null
    if (is === original) return []
    if (original === null) return [`${path} is there by now`]
    return [is === null ? `${path} is gone` : `${path} has changed`]
  })
  if (moved.length > 0) return refused('the tree has changed since the proposal was made', moved)
  if (paths.length === 0) return { kind: 'applied', files: [] }
  const problem = await tree.apply(Buffer.from(proposal.patch, 'base64'))
  if (problem !== null) return refused('the patch cannot be applied', problem.split('\n').slice(0, 20))
  const changed = await tree.changes(before, await tree.take())
  const unsaid = changed.filter((path) => !paths.includes(path))
  if (unsaid.length === 0) return { kind: 'applied', files: changed }
  await tree.putBack(before, changed)
  return refused('the patch changes more than the proposal says', unsaid)
}

function refused(reason: string, conflicts: readonly string[]): Applied {
  return { kind: 'refused', reason, conflicts }
}
