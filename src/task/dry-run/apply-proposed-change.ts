import { type ActiveTask, throwIfStopped } from '../active-task.ts'
import { settleConflicts } from '../analyse.ts'
import { milestones } from '../contract.ts'
import { announceChange } from '../implement.ts'
import type { TaskTree } from '../open-tree.ts'
import { takeSnapshot } from '../take-snapshot.ts'
import { TaskHalt } from '../task-halt.ts'
import { fingerprints, type Proposal } from './proposal.ts'

/** `gantry task apply`: the proposal of a dry run replaces the analysis and the first edit. */
export async function applyProposedChange(active: ActiveTask, proposal: Proposal): Promise<void> {
  const { journal, states, emit, known, tree, writeLimits } = active
  states.move('IMPLEMENTING', 'a proposal is applied')
  known.strategies.push(proposal.strategy)
  emit({ kind: 'milestone', milestone: 'applying', text: milestones.applying })
  await settleConflicts(active)
  await takeSnapshot(active, 'task_start')
  const applied = await journal.step('apply', async () => {
    throwIfStopped(active)
    const begun = journal.kept<string>('apply-begun')
    // An earlier process may have stopped halfway.
    if (begun !== undefined) await tree.putBack(begun, await tree.changes(begun, await tree.take()))
    else journal.keep('apply-begun', await tree.take())
    return applyProposal(tree, proposal, (path) => writeLimits.whyRefused(`${tree.root}/${path}`))
  })
  if (applied.kind === 'refused') {
    const reason = `the proposal was not applied: ${applied.reason}: ${applied.conflicts.join('; ')}`
    throw new TaskHalt({ kind: 'stuck', reason })
  }
  emit({ kind: 'diff', text: proposal.diff, files: proposal.changes.map(({ path }) => path) })
  known.account = `The proposal of ${proposal.task_id} was applied.`
  announceChange(active)
}

export type AppliedProposal =
  | { readonly kind: 'applied'; readonly files: readonly string[] }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly reason: string; readonly conflicts: readonly string[] }

/**
 * Applies a proposal to the tree completely or not at all. Refuses a path that `whyRefused` refuses, a file that has changed since
 * the proposal was made, and a patch that changes more files than the proposal lists.
 */
async function applyProposal(
  tree: TaskTree,
  proposal: Proposal,
  whyRefused: (path: string) => string | null,
): Promise<AppliedProposal> {
  const paths = proposal.changes.map(({ path }) => path)
  const outside = paths.flatMap((path) => {
    const why = whyRefused(path)
    return why === null ? [] : [`${path}: ${why}`]
  })
  if (outside.length > 0) return refused('the proposal writes to protected files', outside)
  const before = await tree.take()
  const now = await fingerprints(tree, before, paths)
  const moved = proposal.changes.flatMap(({ path, original }) => {
    const is = now.get(path) ?? null
    if (is === original) return []
    if (original === null) return [`${path} exists now`]
    return [is === null ? `${path} is gone` : `${path} has changed`]
  })
  if (moved.length > 0) return refused('the tree has changed since the proposal was made', moved)
  if (paths.length === 0) return { kind: 'applied', files: [] }
  const problem = await tree.apply(Buffer.from(proposal.patch, 'base64'))
  if (problem !== null) return refused('the patch cannot be applied', problem.split('\n').slice(0, 20))
  const changed = await tree.changes(before, await tree.take())
  const unlisted = changed.filter((path) => !paths.includes(path))
  if (unlisted.length === 0) return { kind: 'applied', files: changed }
  await tree.putBack(before, changed)
  return refused('the patch changes more than the proposal lists', unlisted)
}

function refused(reason: string, conflicts: readonly string[]): AppliedProposal {
  return { kind: 'refused', reason, conflicts }
}
