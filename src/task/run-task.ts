import { systemClock } from '../io/clock.ts'
import { writePrivateAtomic } from '../io/private-store.ts'
import type { FinalState } from '../store/queue/contract.ts'
import {
  type ActiveTask,
  currentStrategy,
  type KeptVerification,
  type OpenedTask,
  type TaskBase,
  verificationRuns,
} from './active-task.ts'
import { analyse, diagnose } from './analyse.ts'
import { milestones } from './contract.ts'
import { applyProposedChange } from './dry-run/apply-proposal.ts'
import { makeProposal, type Proposal } from './dry-run/proposal.ts'
import { concludeTask, haltReason, writeStuckFiles, writeSuccessFiles } from './end-task.ts'
import { afterFailure, implement } from './implement.ts'
import { openJournal, openTaskLog } from './journal.ts'
import { nextAction } from './loop-counters.ts'
import { openTask, openTaskRun, placesOf } from './open-task.ts'
import { parseTask } from './parse-task.ts'
import { replan } from './replan.ts'
import { openSpending } from './spending.ts'
import { infra, TaskHalt } from './task-halt.ts'
import type { TaskContext, TaskEnd, TaskRequest } from './task-request.ts'
import { verifyStep } from './verify-step.ts'

/**
 * One task from its text to its end, or onward from where an earlier process stopped. `validateStart` has already checked that it
 * can start. Whatever goes wrong on the way becomes an end with a state. Only a text that is not a task, a run directory that
 * cannot be opened and a stopped worker throw.
 */
export async function runTask(request: TaskRequest, context: TaskContext): Promise<TaskEnd> {
  const task = parseTask(request.description)
  const run = await openTaskRun(request, context)
  let isEnded = false
  try {
    context.onChange({ task_run_id: run.id })
    const journal = openJournal(run)
    const now = context.now ?? (() => systemClock.now())
    const startedMs = request.startedAt === undefined ? now().getTime() : Date.parse(request.startedAt)
    const { redaction, onEvent } = context
    const emit = await openTaskLog({ run, taskId: request.taskId, redaction, now, onEvent })
    const spending = openSpending(journal, request.maxCostUsd ?? null)
    const base: TaskBase = { request, context, task, run, journal, emit, spending, now }
    const end = journal.kept<TaskEnd>('end') ?? (await workToEnd(base, startedMs))
    journal.keep('end', end)
    await concludeTask(base, end)
    isEnded = true
    return end
  } finally {
    if (!isEnded) run.release()
  }
}

/** Opens the task, does the work, and turns the outcome, or the halt that was thrown, into an end. */
async function workToEnd(base: TaskBase, startedMs: number): Promise<TaskEnd> {
  const { context, run, spending } = base
  announceStart(base)
  let opened: OpenedTask | null = null
  const end = (state: FinalState, reason: string, rest: Partial<TaskEnd> = {}): TaskEnd => ({
    state,
    reason: context.redaction.text(reason),
    runId: run.id,
    runIds: opened === null ? [] : verificationRuns(opened),
    attempts: opened?.known.attempts.length ?? 0,
    replans: opened?.known.counters.replans ?? 0,
    costUsd: spending.total(),
    // Includes processes that died on the task, and the time in between.
    durationMs: Math.max(0, base.now().getTime() - startedMs),
    summary: null,
    report: null,
    proposal: null,
    ...rest,
  })
  try {
    opened = await openTask(base)
    const { tree, signal, feed, states } = opened
    const { home, scratch } = placesOf(run)
    const site = { run, root: tree.root, budget: spending.budget, emit: feed.emit, signal, home, scratch }
    await using tools = await context.open(site)
    const active: ActiveTask = { ...opened, tools }
    const outcome = await changeAndVerify(active)
    if (outcome.kind === 'proposed') {
      states.move('COMPLETED', 'the proposal is ready')
      return end('SUCCESS', 'the proposal is ready', { proposal: outcome.proposal })
    }
    const summary = await writeSuccessFiles(active, outcome.verification)
    states.move('COMPLETED', 'every step of the verification passed')
    return end('SUCCESS', 'every step of the verification passed', { summary })
  } catch (error) {
    const halt = haltReason(error, base)
    opened?.states.stop(halt.state, halt.reason)
    if (halt.state === 'CANCELLED') return end('CANCELLED', halt.reason)
    const report = await writeStuckFiles(base, opened, halt.state, halt.fault)
    return end(halt.state, halt.reason, { report })
  }
}

type Outcome =
  | { readonly kind: 'verified'; readonly verification: KeptVerification }
  | { readonly kind: 'proposed'; readonly proposal: Proposal }

/** The course of a task: Scouts and a strategy, the Editor, then the Verifier and the Editor in turn until every step passes. */
async function changeAndVerify(active: ActiveTask): Promise<Outcome> {
  const { request, states, known } = active
  if (request.proposal !== undefined) await applyProposedChange(active, request.proposal)
  else {
    await analyse(active)
    states.move('IMPLEMENTING', 'the analysis is complete')
    await implement(active, { kind: 'first' })
  }
  if (request.dryRun) return { kind: 'proposed', proposal: await propose(active) }
  for (;;) {
    const verified = await verifyStep(active)
    const { totalVerifyLoops, consecutiveFailures } = known.counters
    switch (nextAction(known.counters, verified.status)) {
      case 'SUCCESS':
        return { kind: 'verified', verification: verified }
      case 'CONTINUE':
        states.move('DEBUGGING', `verification ${known.attempts.length} failed`)
        await diagnose(active, verified)
        await implement(active, afterFailure(active, 'fix', verified))
        break
      case 'REPLAN':
        states.move('REPLANNING', `${consecutiveFailures} verifications in a row failed`)
        await replan(active, verified)
        states.move('IMPLEMENTING', `strategy ${known.strategies.length}`)
        await implement(active, afterFailure(active, 'replan', verified))
        break
      case 'HARD_STOP':
        throw new TaskHalt({ kind: 'stuck', reason: `${totalVerifyLoops} verifications failed` })
      case 'INFRA_STOP':
        throw infra(
          'Verifier',
          `${verified.error?.type ?? 'unknown'}: ${verified.error?.message ?? ''}`,
          'Check the sandbox with gantry doctor, then retry the task. The changes so far are kept.',
        )
    }
  }
}

function announceStart({ request, run, emit, task }: TaskBase): void {
  emit({
    kind: 'task_started',
    description: request.description,
    dry_run: request.dryRun,
    agent: request.agent,
    model: request.model,
    sandbox: request.sandbox,
    run_id: run.id,
    resumed: request.resumed,
  })
  emit({ kind: 'milestone', milestone: 'started', text: milestones.started })
  for (const message of task.warnings) emit({ kind: 'note', level: 'warning', message })
}

/** The end of a dry run: the change as a proposal, in the journal and in the run directory. */
async function propose(active: ActiveTask): Promise<Proposal> {
  const { journal, request, run, tree, baseline } = active
  const proposal = await journal.step('proposal', async () =>
    makeProposal(tree, baseline.tree, await tree.take(), {
      taskId: request.taskId,
      runId: run.id,
      description: request.description,
      strategy: currentStrategy(active),
    }),
  )
  writePrivateAtomic(run.reportPath('proposal.json'), `${JSON.stringify(proposal, null, 2)}\n`)
  writePrivateAtomic(run.reportPath('proposal.patch'), Buffer.from(proposal.patch, 'base64'))
  return proposal
}
