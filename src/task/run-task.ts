import { systemClock } from '../io/clock.ts'
import { writePrivateFileAtomic } from '../io/private-files.ts'
import type { FinalState } from '../store/queue/contract.ts'
import {
  type ActiveTask,
  currentStrategy,
  type KeptVerification,
  type OpenedTask,
  type TaskBase,
  verificationRuns,
} from './active-task.ts'
import { analyse, askScoutA, askScoutB, diagnose, settleConflicts } from './analyse.ts'
import { milestones, type ScoutName, type Weakening } from './contract.ts'
import { copyInstalled } from './copy-installed.ts'
import { applyProposedChange } from './dry-run/apply-proposed-change.ts'
import { makeProposal, type Proposal } from './dry-run/proposal.ts'
import { newStrategy } from './editor/strategy.ts'
import { endTask, haltReason, keepUnfinished, writeStuckFiles, writeSuccessFiles } from './end-task.ts'
import { findWeakenings, rewrittenFiles } from './find-weakenings.ts'
import { adopt, afterFailure, hasUnheard, hear, implement, unchanged } from './implement.ts'
import { openJournal, openTaskLog } from './journal.ts'
import { countReplan, nextAction } from './loop-counters.ts'
import { isHere, openTask, openTaskRun } from './open-task.ts'
import { placesOf } from './open-workspace.ts'
import { parseTask } from './parse-task.ts'
import { openSpending } from './spending.ts'
import { takeSnapshot } from './take-snapshot.ts'
import { TaskHalt } from './task-halt.ts'
import type { TaskContext, TaskEnd, TaskRequest } from './task-request.ts'
import { putBackAltered } from './verify-altered.ts'
import { runBaseline, verifierFault, verifyStep } from './verify-step.ts'

/**
 * Runs one task to its end, or resumes it where an earlier process stopped. `validateStart` has already checked that it can start.
 * Failures become an end with a state. Only a text that is not a task, a run directory that cannot be opened and a stopped worker throw.
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
    await endTask(base, end)
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
    // Includes earlier processes of the task and the time between them.
    durationMs: Math.max(0, base.now().getTime() - startedMs),
    weakened: [],
    summary: null,
    report: null,
    proposal: null,
    ...rest,
  })
  try {
    opened = await openTask(base)
    await putBackAltered(opened)
    const { tree, signal, feed, states } = opened
    const { home, scratch } = placesOf(run)
    const site = { run, root: tree.root, budget: spending.budget, emit: feed.emit, signal, home, scratch }
    await using tools = await context.open(site)
    const active: ActiveTask = { ...opened, tools }
    const outcome = await changeAndVerify(active)
    if (outcome.kind === 'proposed') {
      const reason = `the proposal is ready, ${resultOf(outcome.proposal)}`
      states.move('COMPLETED', reason)
      return end('SUCCESS', reason, { proposal: outcome.proposal })
    }
    const { verification, weakened } = outcome
    const summary = await writeSuccessFiles(active, verification, weakened)
    if (!isHere(base)) await proposal(active, verification.tree)
    const [first] = weakened
    if (first !== undefined) {
      const more = weakened.length === 1 ? '' : ` (and ${weakened.length - 1} more)`
      const reason = `every step passed, but the steps prove less than before: ${first.what}${more}`
      states.move('WEAKENED', reason)
      return end('WEAKENED', reason, { summary, weakened })
    }
    states.move('COMPLETED', 'every step of the verification passed')
    return end('SUCCESS', 'every step of the verification passed', { summary })
  } catch (error) {
    const halt = haltReason(error, base)
    opened?.states.stop(halt.state, halt.reason)
    if (opened !== null) await keepUnfinished(opened)
    if (halt.state === 'CANCELLED' || halt.state === 'NO_CHANGE') return end(halt.state, halt.reason)
    const report = await writeStuckFiles(base, opened, halt.state, halt.fault)
    return end(halt.state, halt.reason, { report })
  }
}

type Outcome =
  | {
      readonly kind: 'verified'
      readonly verification: KeptVerification
      readonly weakened: readonly Weakening[]
    }
  | { readonly kind: 'proposed'; readonly proposal: Proposal }

/** The course of a task: Scouts and a strategy, the Editor, then the Verifier and the Editor in turn until every step passes. */
async function changeAndVerify(active: ActiveTask): Promise<Outcome> {
  const { request, states, known } = active
  await runBaseline(active)
  await copyInstalled(active)
  if (request.proposal !== undefined) await applyProposedChange(active, request.proposal)
  else {
    await analyse(active)
    states.move('IMPLEMENTING', 'the analysis is complete')
    await implement(active, { kind: 'first' })
  }
  if (request.dryRun) return { kind: 'proposed', proposal: await propose(active, await verifyStep(active)) }
  let isRewriteKnown = false
  for (;;) {
    const verified = await verifyStep(active)
    const { totalVerifyLoops, consecutiveFailures } = known.counters
    switch (nextAction(known.counters, verified.status)) {
      case 'SUCCESS': {
        if (await heard(active)) break
        if (verified.tree === active.baseline.tree) throw unchanged(active)
        const rewritten = isRewriteKnown ? [] : rewrittenFiles(known.untouched, verified)
        if (rewritten.length > 0) {
          isRewriteKnown = true
          states.move('DEBUGGING', 'the steps change files before they test them')
          await adopt(
            active,
            rewritten.map(({ where }) => where),
          )
          break
        }
        const weakened = await findWeakenings(active, verified)
        // That may take as long as the steps themselves.
        if (await heard(active)) break
        return { kind: 'verified', verification: verified, weakened }
      }
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
        throw verifierFault(verified)
    }
  }
}

/** Whether there was a message of the user, which then got its turn of the Editor. */
async function heard(active: ActiveTask): Promise<boolean> {
  if (!hasUnheard(active)) return false
  active.states.move('DEBUGGING', 'the user sent a message')
  await hear(active)
  return true
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

/** The end of a dry run: the change as a proposal with its result, in the journal and in the run directory. A failure is not debugged. */
async function propose(active: ActiveTask, verified: KeptVerification): Promise<Proposal> {
  const { journal, run } = active
  const { status, runId, failure } = verified
  const found = status === 'PASS' ? await findWeakenings(active, verified) : []
  const verification = { status, run_id: runId, failure, weakened: found.map(({ what }) => what) }
  const made = await journal.step('proposal', () => proposal(active, verified.tree, { verification }))
  if (made.changes.length === 0) throw unchanged(active)
  writePrivateFileAtomic(run.reportPath('proposal.patch'), Buffer.from(made.patch, 'base64'))
  return made
}

/** The change up to this state, in a file from which it can be applied. */
async function proposal(
  active: ActiveTask,
  state: string,
  result: Pick<Proposal, 'verification'> = {},
): Promise<Proposal> {
  const { request, run, tree, baseline, commit } = active
  const { taskId, description } = request
  const facts = { taskId, runId: run.id, description, strategy: currentStrategy(active), commit }
  const made = { ...(await makeProposal(tree, baseline.tree, state, facts)), ...result }
  const text = request.dryRun ? made : { ...made, diff: '' }
  writePrivateFileAtomic(run.reportPath('proposal.json'), `${JSON.stringify(text, null, 2)}\n`)
  return made
}

/** The result of a dry run's verification, as the end of a sentence. */
function resultOf({ verification }: Proposal): string {
  const { status, failure, weakened = [] } = verification ?? {}
  if (status === 'FAIL') return `but its verification failed: ${failure}`
  if (status !== 'PASS') return `but it could not be verified: ${failure}`
  return weakened.length === 0
    ? 'and every step of its verification passed'
    : `and every step passed, but the steps prove less than before: ${weakened[0]}`
}

/** After several consecutive failures: asks the Scouts that the failures concern, and finds an untried strategy. */
async function replan(active: ActiveTask, verified: KeptVerification): Promise<void> {
  const { known, emit } = active
  const attempt = known.attempts.length
  emit({ kind: 'milestone', milestone: 'replanning', text: milestones.replanning })
  const failures = known.attempts
    .slice(-known.counters.consecutiveFailures)
    .map((each) => each.primaryFailure ?? '')
  known.counters = countReplan(known.counters)
  await askAgain(active, failures, verified)
  const strategy = await newStrategy(active, verified)
  known.strategies.push(strategy)
  emit({ kind: 'replan', attempt, strategy })
  await takeSnapshot(active, 'replan')
  emit({ kind: 'milestone', milestone: 'replanned', text: milestones.replanned })
}

async function askAgain(active: ActiveTask, failures: readonly string[], { log, failure }: KeptVerification) {
  const scouts = requeryScouts(failures)
  const task = active.task.objective
  if (scouts.includes('scout_a'))
    await askScoutA(active, {
      question: `The strategy so far failed. Which files and dependencies were overlooked?\n\nTask: ${task}\n\nFailures:\n${failures.join('\n')}`,
      failureLog: log,
    })
  if (scouts.includes('scout_b'))
    await askScoutB(active, {
      question: `The strategy so far failed. What is wrong with the build, the test setup or the environment?\n\nTask: ${task}`,
      failureLog: failure === null ? log : `${failure}\n\n${log}`,
    })
  if (scouts.length > 0) await settleConflicts(active)
}

const topics: readonly (readonly [ScoutName, RegExp])[] = [
  ['scout_a', /\b(?:imports?|importing|modules?|dependenc(?:y|ies)|not found|undefined|missing)\b/i],
  [
    'scout_b',
    /\b(?:builds?|building|compil(?:e|er|es|ed|ing|ation)|test setup|environment|time(?:d |-)?out)\b/i,
  ],
]

/** Which Scouts a REPLAN asks again, by the topics of the failures. */
export function requeryScouts(failures: readonly string[]): readonly ScoutName[] {
  const text = failures.join('\n').replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return topics.filter(([, words]) => words.test(text)).map(([scout]) => scout)
}
