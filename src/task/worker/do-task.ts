import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { ownPlace } from '../../guard-install/own-place.ts'
import { removeLeftBehind } from '../../guard-install/temporary-guard.ts'
import { openAppendLog } from '../../io/append-log.ts'
import { systemClock } from '../../io/clock.ts'
import { makeDirectories } from '../../io/directory.ts'
import { readJsonIfExists } from '../../io/files.ts'
import { applyRetention } from '../../store/apply-retention.ts'
import type { Store } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'
import type { ClaimedTask, TaskQueue, TaskRecord } from '../../store/queue/contract.ts'
import { runFile } from '../../store/run-paths.ts'
import { milestones, type TaskEvent, type TaskStep } from '../contract.ts'
import { type Proposal, proposalSchema } from '../dry-run/proposal.ts'
import { guardAgent } from '../editor/guard-agent.ts'
import { openTaskWork, taskRedaction } from '../open-task-work.ts'
import { runTask } from '../run-task.ts'
import { taskEvents } from '../task-events.ts'
import type { TaskEnd, TaskRequest } from '../task-request.ts'
import { exportTrace } from '../telemetry/export-trace.ts'
import { logRecord } from '../telemetry/log-record.ts'
import { taskTally } from '../telemetry/task-tally.ts'
import { type ReadyStart, startError, validateStart } from '../validate-start.ts'
import { type TaskOptions, taskOptionsSchema } from './task-options.ts'

export interface WorkerPowers {
  readonly store: Store
  readonly queue: TaskQueue
  readonly env: Readonly<Record<string, string | undefined>>
  /** The command line, redacted, for manifests. */
  readonly argv: readonly string[]
}

const milestoneKinds: ReadonlySet<TaskStep['kind']> = new Set(['milestone', 'task_ended'])

/** One claimed task, to its end in the queue. Only a worker that is told to go leaves it without one. */
export async function doTask(claimed: ClaimedTask, powers: WorkerPowers, signal: AbortSignal): Promise<void> {
  const { queue, store, env } = powers
  const { task, resumed } = claimed
  const log = structuredLog(store, task)
  let ended: TaskEvent | null = null
  const append = (event: TaskEvent): void => {
    queue.append(task.id, event, milestoneKinds.has(event.kind) ? 'milestone' : 'detail')
    log.append(event)
  }
  // The end is the last thing that is told, whatever has still to be said about the task.
  const tell = (event: TaskEvent): void => {
    if (event.kind === 'task_ended') ended = event
    else append(event)
  }
  try {
    const end = await attempt(task, resumed, powers, signal, tell, log.open)
    const told = [...taskEvents(queue, task.id)].map(({ event }) => event)
    const events = ended === null ? told : [...told, ended]
    const problem = await exportTrace(events, env)
    if (problem !== null) tell({ ...stamp(task), kind: 'note', level: 'warning', message: problem })
    if (ended !== null) append(ended)
    queue.end(task.id, { ...end, metrics: taskTally(events) })
  } catch (error) {
    if (canGoOnLater(error)) {
      queue.release(task.id)
      if (error.code !== 'INTERRUPTED') throw error
    } else failed(queue, task, error, append)
  } finally {
    log.close()
    applyRetention(store)
  }
}

/** Nothing is wrong with the task: the worker was told to go, or the disk takes nothing more for now. */
function canGoOnLater(error: unknown): error is GantryError {
  const later: readonly string[] = ['INTERRUPTED', 'NO_SPACE', 'NOT_WRITABLE', 'LOCKED']
  return error instanceof GantryError && later.includes(error.code)
}

/** A fault of ours, or an order in the queue that makes no sense: the next task must not wait for it. */
function failed(queue: TaskQueue, task: TaskRecord, error: unknown, tell: (event: TaskEvent) => void): void {
  const message = error instanceof Error ? error.message : String(error)
  queue.end(task.id, refused(task, message, tell))
}

interface End {
  readonly state: TaskEnd['state']
  readonly summary: string | null
  readonly error_message: string | null
}

async function attempt(
  task: TaskRecord,
  resumed: boolean,
  powers: WorkerPowers,
  signal: AbortSignal,
  tell: (event: TaskEvent) => void,
  onRun: (runId: string) => void,
): Promise<End> {
  const { store, queue, env, argv } = powers
  const options = taskOptionsSchema.parse(task.options)
  const check = await validateStart({
    repository: task.repository,
    description: task.description,
    agent: options.agent,
    model: options.model,
    sandbox: options.sandbox,
    env,
    signal,
    ...(options.config_file !== undefined && { configFile: options.config_file }),
    ...frozenAgentFile(store, task),
  })
  if (check.kind === 'refused') return refused(task, startError(check.problems).message, tell)
  const proposal = readProposal(store, options)
  if (proposal?.kind === 'unusable') return refused(task, proposal.why, tell)
  for (const message of await removeLeftBehind(store, check.repository))
    tell({ ...stamp(task), kind: 'note', level: 'info', message })
  const redaction = taskRedaction(check, env)
  const end = await runTask(requestOf(task, resumed, options, check, proposal?.proposal), {
    store,
    env,
    argv,
    redaction,
    signal,
    onEvent: tell,
    onChange: (change) => {
      queue.update(task.id, change)
      if (change.task_run_id != null) onRun(change.task_run_id)
    },
    open: openTaskWork({
      start: check,
      store,
      env,
      argv,
      redaction,
      ...(options.agent_model !== undefined && { agentModel: options.agent_model }),
      ...(options.edit_timeout_ms !== undefined && { editTimeoutMs: options.edit_timeout_ms }),
      guardAgent,
      guarded: guardedFiles(check.repository, env),
    }),
  })
  return {
    state: end.state,
    summary: end.summary,
    error_message: end.state === 'SUCCESS' ? null : end.reason,
  }
}

function requestOf(
  task: TaskRecord,
  resumed: boolean,
  options: TaskOptions,
  { agent, model, engine, agentFile, repository }: ReadyStart,
  proposal: Proposal | undefined,
): TaskRequest {
  const { verification, package: packageDir } = agentFile.file
  return {
    taskId: task.id,
    repository,
    description: task.description,
    dryRun: task.dry_run,
    ...(task.started_at !== null && { startedAt: task.started_at }),
    resumed,
    taskRunId: task.task_run_id,
    agent: agent.name,
    model,
    sandbox: engine.name,
    package: packageDir,
    steps: verification.steps,
    ...(options.max_cost_usd !== undefined && { maxCostUsd: options.max_cost_usd }),
    ...(proposal !== undefined && { proposal }),
    retry: options.retry,
  }
}

/** Files that steer agents' hooks: an agent in this process must leave them alone, too. */
function guardedFiles(repository: string, env: WorkerPowers['env']) {
  const { agentFiles, hookBin } = ownPlace(repository, env)
  return { own: agentFiles, hookBin }
}

/** A task that cannot start: a person has to mend something first. */
function refused(task: TaskRecord, message: string, tell: (event: TaskEvent) => void): End {
  tell({ ...stamp(task), kind: 'milestone', milestone: 'infra', text: milestones.infra })
  tell({
    ...stamp(task),
    kind: 'task_ended',
    state: 'INFRA_ERROR',
    reason: message,
    duration_ms: 0,
    run_ids: task.run_ids,
    attempts: task.current_attempt,
    replans: 0,
    cost_usd: 0,
    summary: null,
    report: null,
  })
  return { state: 'INFRA_ERROR', summary: null, error_message: message }
}

function stamp({ id }: TaskRecord): { readonly ts: number; readonly task_id: string } {
  return { ts: systemClock.now().getTime() / 1000, task_id: id }
}

/** A task goes on with the agent.yaml it began with, whatever became of the file since. */
function frozenAgentFile(store: Store, { task_run_id }: TaskRecord): { readonly agentFile?: string } {
  if (task_run_id === null) return {}
  const frozen = openRun(store, task_run_id).inputs().get('agent.yaml')
  return frozen === undefined ? {} : { agentFile: frozen.path }
}

type ReadProposal =
  | { readonly kind: 'usable'; readonly proposal: Proposal }
  | { readonly kind: 'unusable'; readonly why: string; readonly proposal?: undefined }

function readProposal(store: Store, { proposal_of }: TaskOptions): ReadProposal | null {
  if (proposal_of === undefined) return null
  const read = proposalSchema.safeParse(
    readJsonIfExists(join(runFile.reports(join(store.runsDir, proposal_of)), 'proposal.json')),
  )
  return read.success
    ? { kind: 'usable', proposal: read.data }
    : { kind: 'unusable', why: `${proposal_of} holds no proposal that can be applied` }
}

/** `logs/task.jsonl` of the task's run: a timeline by itself. Lines from before there is a run wait for it. */
function structuredLog(store: Store, task: TaskRecord) {
  const waiting: string[] = []
  let log: ReturnType<typeof openAppendLog> | null = null
  const open = (runId: string): void => {
    if (log !== null) return
    const directory = runFile.logs(join(store.runsDir, runId))
    makeDirectories(directory)
    log = openAppendLog(join(directory, 'task.jsonl'))
    for (const line of waiting.splice(0)) log.append(line)
  }
  if (task.task_run_id !== null) open(task.task_run_id)
  return {
    open,
    append: (event: TaskEvent): void => {
      const record = logRecord(event)
      if (record === null) return
      const line = `${JSON.stringify(record)}\n`
      if (log === null) waiting.push(line)
      else log.append(line)
    },
    close: (): void => log?.close(),
  }
}
