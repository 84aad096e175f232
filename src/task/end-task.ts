import { GantryError } from '../core/error.ts'
import { removeTree, writeFileAtomic } from '../io/files.ts'
import { isFile } from '../io/path-kind.ts'
import type { RunStatus, Store } from '../store/contract.ts'
import { flagRun } from '../store/flag-run.ts'
import type { FinalState } from '../store/queue/contract.ts'
import {
  type ActiveTask,
  currentStrategy,
  type KeptVerification,
  type OpenedTask,
  type TaskBase,
} from './active-task.ts'
import { keepChange } from './apply-change.ts'
import { type InfrastructureFault, type Milestone, milestones, type Weakening } from './contract.ts'
import { isHere } from './open-task.ts'
import type { TaskTree } from './open-tree.ts'
import { placesOf } from './open-workspace.ts'
import { stuckReport, stuckReportName, stuckRuns } from './reports/stuck-report.ts'
import { type SummaryFile, successSummary } from './reports/success-summary.ts'
import { takeSnapshot } from './take-snapshot.ts'
import { TaskHalt } from './task-halt.ts'
import { shutdown, type TaskEnd } from './task-request.ts'

/** Writes the last snapshot, the summary and the patch of a task that passed. Returns the summary. */
export async function writeSuccessFiles(
  active: ActiveTask,
  verification: KeptVerification,
  weakened: readonly Weakening[],
): Promise<string> {
  const { journal, known, tree, baseline, request, task, run, context, now } = active
  if (weakened.length === 0) await takeSnapshot(active, 'task_success')
  const summary = await journal.step('summary', async () =>
    context.redaction.text(
      successSummary({
        task,
        description: request.description,
        at: now(),
        filesModified: await changedFiles(tree, baseline.tree, verification.tree),
        what: known.account,
        strategy: currentStrategy(active),
        runId: verification.runId ?? '',
        steps: verification.steps,
        attempts: known.attempts.length,
        replans: known.counters.replans,
        sandbox: request.sandbox,
        here: isHere(active),
        notes: known.notes,
        weakened,
        taskId: request.taskId,
      }),
    ),
  )
  writeFileAtomic(run.reportPath('summary.md'), summary)
  await writePatch(active, verification.tree)
  // Retention treats the runs of earlier, stuck attempts like all others from now on.
  if (weakened.length === 0)
    for (const { run_id, refers_to } of stuckRuns(context.store, request.repository, request.description))
      for (const id of [run_id, ...refers_to]) setStuck(context.store, id, false)
  return summary
}

/** For people. The change itself may contain a secret, so it is kept apart. */
async function writePatch({ tree, baseline, run, context }: OpenedTask, state: string): Promise<void> {
  const patch = await tree.patch(baseline.tree, state)
  writeFileAtomic(run.reportPath('changes.patch'), withoutSecrets(patch, context))
}

/** What a task without success has changed. Its own tree is removed. */
export async function keepUnfinished(opened: OpenedTask): Promise<void> {
  try {
    await writePatch(opened, await opened.tree.take())
  } catch (error) {
    // The cause of the end may affect this too.
    if (!(error instanceof GantryError)) throw error
  }
}

/** Writes the stuck report and returns its path. `opened` is null when the task failed before its tree was open. */
export async function writeStuckFiles(
  base: TaskBase,
  opened: OpenedTask | null,
  status: 'STUCK' | 'INFRA_ERROR',
  infrastructure: InfrastructureFault | null,
): Promise<string> {
  const { request, task, run, context, now } = base
  const known = opened?.known
  const failedStep = known?.verification?.failedStep
  const text = context.redaction.text(
    stuckReport({
      ...{ task, description: request.description, at: now(), status, infrastructure },
      ...{ taskId: request.taskId, here: isHere(base), sandbox: request.sandbox },
      untouched: known?.untouched ?? null,
      attempts: known?.attempts ?? [],
      strategies: known?.strategies ?? [],
      filesModified: opened === null ? [] : await modifiedSoFar(opened),
      lastLog: known?.verification?.log ?? '',
      ...(failedStep !== null && failedStep !== undefined && { failedStep }),
      diagnosis: known?.diagnosis ?? null,
      corrections: known?.corrections ?? [],
    }),
  )
  const path = run.reportPath(stuckReportName)
  writeFileAtomic(path, text)
  return path
}

export interface TaskStop {
  readonly state: 'CANCELLED' | 'NO_CHANGE' | 'STUCK' | 'INFRA_ERROR'
  readonly reason: string
  readonly fault: InfrastructureFault | null
}

/**
 * How a task ends after this error. Throws INTERRUPTED when the worker was stopped, because the task can be resumed. An unknown error
 * does not crash the worker: its stack goes to `error.log`, and the task ends as an infrastructure error.
 */
export function haltReason(error: unknown, { context, run }: TaskBase): TaskStop {
  const { signal } = context
  const why =
    error instanceof TaskHalt
      ? error.why
      : signal.aborted
        ? ({ kind: signal.reason === shutdown ? 'left' : 'cancelled' } as const)
        : ({ kind: 'infra', fault: faultOf(error, { context, run }) } as const)
  switch (why.kind) {
    case 'left':
      throw new GantryError('INTERRUPTED', 'the worker was stopped; the task can be resumed')
    case 'cancelled':
      return { state: 'CANCELLED', reason: 'it was cancelled', fault: null }
    case 'unchanged':
      return { state: 'NO_CHANGE', reason: why.reason, fault: null }
    case 'stuck':
      return { state: 'STUCK', reason: why.reason, fault: null }
    case 'infra':
      return { state: 'INFRA_ERROR', reason: `${why.fault.source}: ${why.fault.message}`, fault: why.fault }
  }
}

function faultOf(error: unknown, { context, run }: Pick<TaskBase, 'context' | 'run'>): InfrastructureFault {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof GantryError)
    return { source: 'Gantry', message, advice: error.hint ?? 'Fix it, then retry the task.' }
  const stack = error instanceof Error ? (error.stack ?? message) : message
  const path = run.logPath('error.log')
  writeFileAtomic(path, `${context.redaction.text(stack)}\n`)
  const advice = `This is a bug in Gantry. The stack is in ${path}. Retry the task, and report it if it happens again.`
  return { source: 'Gantry', message, advice }
}

const lastMilestones: Readonly<Record<FinalState, Milestone>> = {
  SUCCESS: 'succeeded',
  WEAKENED: 'weakened',
  NO_CHANGE: 'unchanged',
  STUCK: 'stuck',
  INFRA_ERROR: 'infra',
  CANCELLED: 'cancelled',
}

const statuses: Readonly<Record<FinalState, Exclude<RunStatus, 'running'>>> = {
  SUCCESS: 'pass',
  WEAKENED: 'fail',
  NO_CHANGE: 'fail',
  STUCK: 'fail',
  INFRA_ERROR: 'infra',
  CANCELLED: 'interrupted',
}

/** Reports the end, removes the working directories and closes the run. Safe to repeat after a crash. */
export async function endTask({ emit, request, context, run }: TaskBase, end: TaskEnd): Promise<void> {
  if (end.state === 'STUCK' || end.state === 'INFRA_ERROR')
    for (const id of [run.id, ...end.runIds]) setStuck(context.store, id, true, end.reason.slice(0, 500))
  if (end.proposal !== null) {
    const { diff, changes } = end.proposal
    emit({ kind: 'diff', text: diff, files: changes.map(({ path }) => path) })
  }
  const isKept = end.state === 'SUCCESS' || end.state === 'WEAKENED'
  if (isKept && isFile(run.reportPath('proposal.json'))) keepChange(context.store, run.id)
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
    ...(end.weakened.length > 0 && { weakened: end.weakened }),
  })
  context.onChange({ phase: null, summary: end.summary })
  for (const place of Object.values(placesOf(run))) removeTree(place)
  await run.end({
    status: statuses[end.state],
    costUsd: end.costUsd,
    change: {
      refers_to: end.runIds,
      details: { reason: end.reason, state: end.state, weakened: end.weakened },
    },
  })
}

/** Unchanged, so git can apply it elsewhere, unless it contains a secret: secrets are never stored. */
function withoutSecrets(patch: Uint8Array, { redaction }: TaskBase['context']): string | Uint8Array {
  const text = Buffer.from(patch).toString('latin1')
  return redaction.text(text) === text ? patch : redaction.text(Buffer.from(patch).toString('utf8'))
}

async function modifiedSoFar({ tree, baseline }: OpenedTask): Promise<readonly string[]> {
  try {
    return await tree.changes(baseline.tree, await tree.take())
  } catch (error) {
    // The same error may affect this list. Write the report without it.
    if (error instanceof GantryError) return []
    throw error
  }
}

async function changedFiles(tree: TaskTree, from: string, to: string): Promise<readonly SummaryFile[]> {
  const paths = await tree.changes(from, to)
  const [before, after] = await Promise.all([tree.entries(from, paths), tree.entries(to, paths)])
  return paths.map((path) => ({
    path,
    change: !before.has(path) ? 'added' : after.has(path) ? 'modified' : 'deleted',
  }))
}

/** Ignores a run that was removed in the meantime. */
function setStuck(store: Store, runId: string, isStuck: boolean, reason?: string): void {
  try {
    flagRun(store, runId, 'stuck', isStuck, reason)
  } catch (error) {
    if (!(error instanceof GantryError) || error.code !== 'NOT_FOUND') throw error
  }
}
