import { analyse, decide } from './analyse.ts'
import { milestones } from './contract.ts'
import { debugLoop } from './debug-loop.ts'
import { applyProposal } from './dry-run/apply-proposal.ts'
import { makeProposal, type Proposal } from './dry-run/proposal.ts'
import { announceChange, announceEdit, demandTests, implement } from './implement.ts'
import type { KeptVerification } from './kept-verification.ts'
import { takeSnapshot } from './take-snapshot.ts'
import { TaskHalt } from './task-halt.ts'
import { currentStrategy, goOn, type TaskInHand } from './task-in-hand.ts'

/** From the first question to green, or to a proposal. What keeps it from getting there is thrown as a halt. */
export async function workOnTask(
  hand: TaskInHand,
): Promise<
  | { readonly kind: 'verified'; readonly verification: KeptVerification }
  | { readonly kind: 'proposed'; readonly proposal: Proposal }
> {
  const { request, states } = hand
  if (request.proposal === undefined) {
    await analyse(hand)
    states.move('IMPLEMENTING', 'the analysis is complete')
    announceEdit(hand)
    await implement(hand, { kind: 'first' })
    await demandTests(hand)
    announceChange(hand)
  } else await apply(hand, request.proposal)
  if (request.dryRun) return { kind: 'proposed', proposal: await propose(hand) }
  return { kind: 'verified', verification: await debugLoop(hand) }
}

async function propose(hand: TaskInHand): Promise<Proposal> {
  const { journal, request, run, tree, baseline } = hand
  return journal.step('proposal', async () =>
    makeProposal(tree, baseline.tree, await tree.take(), {
      taskId: request.taskId,
      runId: run.id,
      description: request.description,
      strategy: currentStrategy(hand),
    }),
  )
}

/** In place of the analysis and of the first edit. */
async function apply(hand: TaskInHand, proposal: Proposal): Promise<void> {
  const { journal, states, emit, known, tree, writeLimits } = hand
  states.move('IMPLEMENTING', 'a proposal is applied')
  known.strategies.push(proposal.strategy)
  emit({ kind: 'milestone', milestone: 'applying', text: milestones.applying })
  await decide(hand)
  await takeSnapshot(hand, 'task_start')
  const applied = await journal.step('apply', async () => {
    goOn(hand)
    const begun = journal.kept<string>('apply-begun')
    // Half of it may be in the tree.
    if (begun !== undefined) await tree.putBack(begun, await tree.changes(begun, await tree.take()))
    else journal.keep('apply-begun', await tree.take())
    return applyProposal(tree, proposal, (path) => writeLimits.whyRefused(`${tree.root}/${path}`))
  })
  if (applied.kind === 'refused') {
    const reason = `the proposal is not applied: ${applied.reason}: ${applied.conflicts.join('; ')}`
    throw new TaskHalt({ kind: 'stuck', reason })
  }
  emit({ kind: 'diff', text: proposal.diff, files: proposal.changes.map(({ path }) => path) })
  known.account = `The proposal of ${proposal.task_id} was applied.`
  announceChange(hand)
}
