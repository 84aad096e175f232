import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import { createRedaction } from '../../core/redaction.ts'
import { removeLeftBehind } from '../../guard-install/temporary-guard.ts'
import { systemClock } from '../../io/clock.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { removeTree } from '../../io/remove-tree.ts'
import { cleanAfterRun } from '../../store/apply-retention.ts'
import type { LiveRun, Store } from '../../store/contract.ts'
import { createRun } from '../../store/create-run.ts'
import { readManifestState } from '../../store/manifest.ts'
import { openRun } from '../../store/open-run.ts'
import type {
  ClaimedTask,
  FinalState,
  TaskEndRecord,
  TaskQueue,
  TaskRecord,
} from '../../store/queue/contract.ts'
import { runIds } from '../../store/run-id.ts'
import { isLive } from '../../store/run-lock.ts'
import { applyChange, releaseChange } from '../apply-change.ts'
import { milestones, type TaskEvent, type TaskStep } from '../contract.ts'
import { readProposal } from '../dry-run/proposal.ts'
import { openTaskTools } from '../open-task-tools.ts'
import { placesOf } from '../open-workspace.ts'
import { stuckReport, stuckReportName } from '../reports/stuck-report.ts'
import { runTask } from '../run-task.ts'
import { taskEvents } from '../task-events.ts'
import { exportTrace } from '../telemetry/export-trace.ts'
import { openStructuredLog } from '../telemetry/log-record.ts'
import { taskTally } from '../telemetry/task-metrics.ts'
import { startError, validateStart } from '../validate-start.ts'
import { taskOptionsSchema } from './submit-task.ts'

export interface WorkerContext {
  readonly store: Store
  readonly queue: TaskQueue
  readonly env: Readonly<Record<string, string | undefined>>
  /** The command line, redacted, for manifests. */
  readonly argv: readonly string[]
  /** The repositories are copies for one task each, so nothing has their path. */
  readonly isCopy?: boolean
}

const milestoneKinds: ReadonlySet<TaskStep['kind']> = new Set(['milestone', 'question', 'task_ended'])

/** Runs one claimed task to its end in the queue. Only a stopped worker leaves it without one. */
export async function doTask(claimed: ClaimedTask, context: WorkerContext, signal: AbortSignal) {
  const { queue, store, env } = context
  const { task } = claimed
  const log = openStructuredLog(store, task)
  const append = (event: TaskEvent): void => {
    queue.append(task.id, event, milestoneKinds.has(event.kind) ? 'milestone' : 'detail')
    log.append(event)
  }
  let ended: TaskEvent | null = null
  // The end must be the last event, so write it after everything else.
  const emit = (event: TaskEvent): void => {
    if (event.kind === 'task_ended') ended = event
    else append(event)
  }
  try {
    removeLeftTrees(context)
    for (const message of cleanAfterRun(store, task.task_run_id === null ? [] : [task.task_run_id]))
      append({ ...stamp(task), kind: 'note', level: 'info', message })
    const end =
      typeof task.options.queue === 'string'
        ? await (await import('./do-elsewhere.ts')).doElsewhere(task, context, signal, emit, (why, state) =>
            refuse(task, why, emit, null, state),
          )
        : await validateAndRun(claimed, context, signal, emit, log.open)
    const earlier = [...taskEvents(queue, task.id)].map(({ event }) => event)
    const events = ended === null ? earlier : [...earlier, ended]
    if (end.state === 'SUCCESS') await passOn(claimed.task, context, append)
    const problem = await exportTrace(events, env)
    if (problem !== null) append({ ...stamp(task), kind: 'note', level: 'warning', message: problem })
    if (ended !== null) append(ended)
    queue.end(task.id, { ...end, metrics: taskTally(events) })
  } catch (error) {
    if (canResumeLater(error)) {
      queue.release(task.id)
      if (error.code !== 'INTERRUPTED') throw error
    } else {
      // A bug, or an invalid record in the queue. It must not block the next task.
      const message = error instanceof Error ? error.message : String(error)
      queue.end(task.id, refuse(task, message, append))
    }
  } finally {
    log.close()
  }
}

/** The working directories of tasks that ended without a worker. */
function removeLeftTrees({ store, queue }: WorkerContext): void {
  for (const { id } of runIds(store)) {
    const dir = join(store.runsDir, id)
    const state = isDirectory(placesOf({ dir }).workspace) && !isLive(dir) ? readManifestState(dir) : null
    if (state?.kind !== 'whole') continue
    const task = queue.get(String(state.manifest.details.task_id))
    if (task?.state !== 'RUNNING' && task?.state !== 'QUEUED')
      for (const place of Object.values(placesOf({ dir }))) removeTree(place)
  }
}

/** What was asked for after the success: the change in the user's tree, and a dry run's proposal that is done with. */
async function passOn(
  { id }: TaskRecord,
  { queue, store, env }: WorkerContext,
  append: (event: TaskEvent) => void,
): Promise<void> {
  const task = queue.get(id)
  if (task === null) return
  const { apply, proposal_of } = taskOptionsSchema.parse(task.options)
  if (proposal_of !== undefined) releaseChange(store, proposal_of)
  if (!apply || task.dry_run || task.task_run_id === null || readProposal(store, task.task_run_id) === null)
    return
  try {
    await applyChange({ store, queue, env }, { ...task, state: 'SUCCESS' })
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    const message = `${error.message.replaceAll('\n', '; ')}. ${error.hint ?? ''}`
    append({ ...stamp(task), kind: 'note', level: 'warning', message })
  }
}

/** Not the task's fault: the worker was stopped, or the disk is not writable at the moment. */
function canResumeLater(error: unknown): error is GantryError {
  const later: readonly string[] = ['INTERRUPTED', 'NO_SPACE', 'NOT_WRITABLE', 'LOCKED', 'QUEUE_UNAVAILABLE']
  return error instanceof GantryError && later.includes(error.code)
}

async function validateAndRun(
  { task, resumed }: ClaimedTask,
  { store, queue, env, argv, isCopy = false }: WorkerContext,
  signal: AbortSignal,
  emit: (event: TaskEvent) => void,
  onRun: (runId: string) => void,
): Promise<TaskEndRecord> {
  const options = taskOptionsSchema.parse(task.options)
  const { repository, description } = task
  const start = await validateStart({
    ...{ repository, description, agent: options.agent, model: options.model },
    ...{ sandbox: options.sandbox, env, signal },
    ...(options.config_file !== undefined && { configFile: options.config_file }),
    ...frozenAgentFile(store, task),
  })
  if (start.kind === 'refused') {
    const { message } = startError(start.problems)
    const isFirst = task.task_run_id === null && options.retry_of === undefined
    const run = isFirst ? await reportRefused(task, message, store, argv) : null
    if (run !== null) {
      queue.update(task.id, { task_run_id: run.id })
      onRun(run.id)
    }
    return refuse(task, message, emit, run?.reportPath(stuckReportName))
  }
  const { proposal_of } = options
  const proposal = proposal_of === undefined ? undefined : readProposal(store, proposal_of)
  if (proposal === null) return refuse(task, `${proposal_of} has no proposal that can be applied`, emit)
  const left =
    task.task_run_id === null ? [] : [placesOf({ dir: join(store.runsDir, task.task_run_id) }).workspace]
  for (const root of [repository, ...left])
    for (const message of await removeLeftBehind(store, root))
      emit({ ...stamp(task), kind: 'note', level: 'info', message })
  const { agent, model, engine, agentFile, project } = start
  const redaction = createRedaction(project.config.redact, env, agent.env)
  const end = await runTask(
    {
      taskId: task.id,
      repository,
      description,
      dryRun: task.dry_run,
      // The host has no other place for the path of the repository, which programs in it may have.
      here: options.here || (engine.name === 'host' && !isCopy),
      withChanges: options.with_changes,
      ...(task.started_at !== null && { startedAt: task.started_at }),
      resumed,
      taskRunId: task.task_run_id,
      agent: agent.name,
      model,
      sandbox: engine.name,
      package: agentFile.file.package,
      steps: agentFile.file.verification.steps,
      ...defined({ maxCostUsd: options.max_cost_usd, answerTimeoutMs: options.answer_timeout_ms, proposal }),
      retry: options.retry,
      ...(options.retry_of !== undefined && { retryOf: options.retry_of }),
    },
    {
      ...{ store, env, argv, redaction, signal, onEvent: emit },
      messages: () =>
        [...taskEvents(queue, task.id)].flatMap(({ event }) => (event.kind === 'told' ? [event.text] : [])),
      onChange: (change) => {
        queue.update(task.id, change)
        if (change.task_run_id != null) onRun(change.task_run_id)
      },
      open: openTaskTools({
        ...{ start, store, env, argv, redaction },
        ...defined({ agentModel: options.agent_model, editTimeoutMs: options.edit_timeout_ms }),
      }),
    },
  )
  return {
    state: end.state,
    summary: end.summary,
    error_message:
      end.state === 'SUCCESS'
        ? null
        : [end.reason, ...end.weakened.slice(1).map(({ what }) => what)].join('\n'),
  }
}

/** Ends a task that cannot start: the user has to fix something first. */
function refuse(
  task: TaskRecord,
  message: string,
  emit: (event: TaskEvent) => void,
  report: string | null = null,
  state: FinalState = 'INFRA_ERROR',
): TaskEndRecord {
  const milestone = state === 'CANCELLED' ? 'cancelled' : 'infra'
  emit({ ...stamp(task), kind: 'milestone', milestone, text: milestones[milestone] })
  emit({
    ...stamp(task),
    kind: 'task_ended',
    state,
    reason: message,
    duration_ms: 0,
    run_ids: task.run_ids,
    attempts: task.current_attempt,
    replans: 0,
    cost_usd: 0,
    summary: null,
    report,
  })
  return { state, summary: null, error_message: message }
}

/** A run directory with the report only. */
async function reportRefused(
  task: TaskRecord,
  message: string,
  store: Store,
  argv: readonly string[],
): Promise<LiveRun> {
  const { id, repository, description } = task
  const [title = ''] = description.trim().split('\n')
  const details = { task_id: id, repository, description }
  const run = createRun(store, { kind: 'task', title: title.slice(0, 200), argv, cwd: repository, details })
  const nothing = { mustPreserve: [], nonGoals: [], boundaries: [], successCriteria: [], warnings: [] }
  const text = stuckReport({
    task: { objective: description, ...nothing },
    description,
    at: systemClock.now(),
    status: 'INFRA_ERROR',
    infrastructure: { source: 'Start check', message, advice: `Fix it, then: gantry task retry ${id}` },
    ...{ taskId: id, here: false, sandbox: '', untouched: null },
    ...{ attempts: [], strategies: [], filesModified: [], corrections: [], lastLog: '', diagnosis: null },
  })
  writeFileAtomic(run.reportPath(stuckReportName), text)
  await run.end({
    status: 'infra',
    costUsd: 0,
    change: { details: { reason: message, state: 'INFRA_ERROR' } },
  })
  return run
}

function stamp({ id }: TaskRecord): { readonly ts: number; readonly task_id: string } {
  return { ts: systemClock.now().getTime() / 1000, task_id: id }
}

/** A resumed task uses the agent.yaml it began with, even if the file has changed since. */
function frozenAgentFile(store: Store, { task_run_id }: TaskRecord): { readonly agentFile?: string } {
  if (task_run_id === null) return {}
  const frozen = openRun(store, task_run_id).inputs().get('agent.yaml')
  return frozen === undefined ? {} : { agentFile: frozen.path }
}
