import { GantryError } from '../core/error.ts'
import { systemClock } from '../io/clock.ts'
import { removeTree, writeFileAtomic } from '../io/files.ts'
import { writePrivateAtomic } from '../io/private-store.ts'
import type { LiveRun, RunStatus } from '../store/contract.ts'
import type { FinalState } from '../store/queue/contract.ts'
import { type Milestone, milestones } from './contract.ts'
import { endStuck, endSuccessful, type GivenUp } from './end-task.ts'
import { openJournal } from './journal/open-journal.ts'
import { openTaskLog } from './journal/open-task-log.ts'
import { openTask, placesOf, type TaskGround } from './open-task.ts'
import { openTaskRun } from './open-task-run.ts'
import { parseTask } from './parse-task.ts'
import { setStuck } from './resolve-stuck-runs.ts'
import { openSpending } from './spending.ts'
import { isEnd } from './states.ts'
import { type HaltReason, TaskHalt } from './task-halt.ts'
import type { TaskInHand } from './task-in-hand.ts'
import { shutdown, type TaskEnd, type TaskPowers, type TaskRequest } from './task-request.ts'
import { workOnTask } from './work-on-task.ts'

/**
 * One task from its first question to its end, or on from where an earlier process died. Whatever goes wrong on the way is an end
 * with a state; only a text that is no task, a run directory that cannot be had, and a worker that goes away throw.
 */
export async function runTask(request: TaskRequest, powers: TaskPowers): Promise<TaskEnd> {
  const task = parseTask(request.description)
  const run = await openTaskRun(request, powers)
  let isEnded = false
  try {
    powers.onChange({ task_run_id: run.id })
    const journal = openJournal(run)
    const now = powers.now ?? (() => systemClock.now())
    const startedMs = request.startedAt === undefined ? now().getTime() : Date.parse(request.startedAt)
    const { redaction, onEvent } = powers
    const emit = await openTaskLog({ run, taskId: request.taskId, redaction, now, onEvent })
    const spending = openSpending(journal, request.maxCostUsd ?? null)
    const ground: TaskGround = { request, powers, task, run, journal, emit, spending, now }
    const earlier = journal.kept<TaskEnd>('end')
    const end = earlier ?? (await bringToEnd(ground, startedMs))
    journal.keep('end', end)
    conclude(ground, end)
    await run.end({
      status: statuses[end.state],
      change: { refers_to: end.runIds, details: { reason: end.reason, state: end.state } },
    })
    isEnded = true
    return end
  } finally {
    if (!isEnded) run.release()
  }
}

const statuses: Readonly<Record<FinalState, Exclude<RunStatus, 'running'>>> = {
  SUCCESS: 'pass',
  STUCK: 'fail',
  INFRA_ERROR: 'infra',
  CANCELLED: 'interrupted',
}

/** As much of the task as could be opened, for whoever has to write its end. */
type Opened = { -readonly [Key in keyof TaskInHand]?: TaskInHand[Key] }

async function bringToEnd(ground: TaskGround, startedMs: number): Promise<TaskEnd> {
  const { request, powers, run, emit, spending, task } = ground
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
  const opened: Opened = {}
  const end = (state: FinalState, reason: string, rest: Partial<TaskEnd> = {}): TaskEnd => ({
    state,
    reason: powers.redaction.text(reason),
    runId: run.id,
    runIds: (opened.known?.attempts ?? []).flatMap(({ runId }) => (runId === null ? [] : [runId])),
    attempts: opened.known?.attempts.length ?? 0,
    replans: opened.known?.counters.replans ?? 0,
    costUsd: spending.total(),
    // Also the time of processes that died on it, and the time nobody worked on it.
    durationMs: Math.max(0, ground.now().getTime() - startedMs),
    summary: null,
    report: null,
    proposal: null,
    ...rest,
  })
  try {
    const before = await openTask(ground)
    Object.assign(opened, before)
    const { home, scratch } = placesOf(run)
    const { tree, signal, feed } = before
    await using work = await powers.open({
      run,
      root: tree.root,
      budget: spending.budget,
      emit: feed.emit,
      signal,
      home,
      scratch,
    })
    const hand: TaskInHand = { ...before, work }
    const result = await workOnTask(hand)
    if (result.kind === 'proposed') {
      const { proposal } = result
      writePrivateAtomic(run.reportPath('proposal.json'), `${JSON.stringify(proposal, null, 2)}\n`)
      writePrivateAtomic(run.reportPath('proposal.patch'), Buffer.from(proposal.patch, 'base64'))
      hand.states.move('COMPLETED', 'the proposal is ready')
      return end('SUCCESS', 'the proposal is ready', { proposal })
    }
    const summary = await endSuccessful(hand, result.verification)
    hand.states.move('COMPLETED', 'every step of the verification passed')
    return end('SUCCESS', 'every step of the verification passed', { summary })
  } catch (error) {
    const why = reasonOf(error, ground)
    const given: GivenUp = { ...ground, ...opened }
    switch (why.kind) {
      case 'left':
        throw new GantryError('INTERRUPTED', 'the worker was stopped; the task can be taken up again')
      case 'cancelled':
        stop(opened, 'CANCELLED', 'it was cancelled')
        return end('CANCELLED', 'it was cancelled')
      case 'stuck':
        stop(opened, 'STUCK', why.reason)
        return end('STUCK', why.reason, { report: await endStuck(given, 'STUCK', null) })
      case 'infra': {
        const { source, message } = why.fault
        const reason = `${source}: ${message}`
        stop(opened, 'INFRA_ERROR', reason)
        return end('INFRA_ERROR', reason, { report: await endStuck(given, 'INFRA_ERROR', why.fault) })
      }
    }
  }
}

function stop({ states }: Opened, to: 'CANCELLED' | 'STUCK' | 'INFRA_ERROR', reason: string): void {
  if (states !== undefined && !isEnd(states.current)) states.move(to, reason)
}

/** Nothing that is thrown crashes the worker: what is no known fault is kept with its stack, and ends the task as infrastructure. */
function reasonOf(error: unknown, { powers, run }: TaskGround): HaltReason {
  if (error instanceof TaskHalt) return error.why
  if (powers.signal.aborted) return { kind: powers.signal.reason === shutdown ? 'left' : 'cancelled' }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof GantryError)
    return {
      kind: 'infra',
      fault: { source: 'Gantry', message, advice: error.hint ?? 'Mend it, then retry the task.' },
    }
  const stack = error instanceof Error ? (error.stack ?? message) : message
  const path = run.logPath('error.log')
  writeFileAtomic(path, `${powers.redaction.text(stack)}\n`)
  const advice = `This is a fault of Gantry itself; ${path} tells where. Retry the task, and report it if it comes again.`
  return { kind: 'infra', fault: { source: 'Gantry', message, advice } }
}

const lastMilestones: Readonly<Record<FinalState, Milestone>> = {
  SUCCESS: 'succeeded',
  STUCK: 'stuck',
  INFRA_ERROR: 'infra',
  CANCELLED: 'cancelled',
}

/** Tells the end, and lets go of what nobody needs any more. May be done again after a crash. */
function conclude({ emit, request, powers, run }: TaskGround, end: TaskEnd): void {
  if (end.state === 'STUCK' || end.state === 'INFRA_ERROR')
    for (const id of [run.id, ...end.runIds]) setStuck(powers.store, id, true, end.reason.slice(0, 500))
  if (end.proposal !== null) {
    const { diff, changes } = end.proposal
    emit({ kind: 'diff', text: diff, files: changes.map(({ path }) => path) })
  }
  const last = end.state === 'SUCCESS' && request.dryRun ? 'proposed' : lastMilestones[end.state]
  emit({ kind: 'milestone', milestone: last, text: milestones[last] })
  emit({
    kind: 'task_ended',
    state: end.state,
    reason: end.reason,
    duration_ms: end.durationMs,
    run_ids: end.runIds,
    attempts: end.attempts,
    replans: end.replans,
    cost_usd: end.costUsd,
    summary: end.summary,
    report: end.report,
  })
  powers.onChange({ phase: null, summary: end.summary })
  sweep(run)
}

function sweep(run: LiveRun): void {
  for (const place of Object.values(placesOf(run))) removeTree(place)
}
