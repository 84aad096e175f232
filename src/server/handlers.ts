import { isAbsolute } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { z } from 'zod'
import { GantryError } from '../core/error.ts'
import { defined } from '../core/json-fields.ts'
import { version } from '../core/version.ts'
import { isDirectory } from '../io/path-kind.ts'
import { realPath } from '../io/resolve-links.ts'
import { type FileDiff, splitDiff } from '../report/split-diff.ts'
import type { Store } from '../store/contract.ts'
import type { QueuedTask, TaskQueue, TaskRecord } from '../store/queue/contract.ts'
import type { QueueStatus } from '../store/trial-queue/why-waiting.ts'
import { clearHistory } from '../task/apply-change.ts'
import type { TaskEvent } from '../task/contract.ts'
import { lastDiff } from '../task/task-events.ts'
import { taskReports } from '../task/task-reports.ts'
import { prometheusText } from '../task/telemetry/prometheus-text.ts'
import { taskMetrics } from '../task/telemetry/task-metrics.ts'
import { tellTask } from '../task/worker/submit-task.ts'
import { type ApiAnswer, type ApiProblem, ok, problem } from './answer.ts'
import type { CommitReply, CommitRequest, diagnosisSchema, NewTaskBody } from './api-schemas.ts'
import { guardHandlers } from './guard/guard-handlers.ts'
import { openApiDocument } from './openapi.ts'
import type { PageSession } from './page-session.ts'
import type { Handlers } from './routes.ts'
import type { RunHandlerOptions } from './runs/contract.ts'
import { runHandlers } from './runs/run-handlers.ts'
import { atRest, type ServedTasks } from './served-tasks.ts'

/** How tasks are queued, given by the caller of the server. Clients see the GantryErrors it throws. */
export interface TaskSubmitter {
  submit(task: NewTaskBody): Promise<QueuedTask> | QueuedTask
  /** Retries a task that ended without success. */
  retry(id: string): Promise<QueuedTask> | QueuedTask
  /** Applies the change of a verified task, which is returned, or queues a task for the proposal of a dry run. */
  apply(id: string): Promise<QueuedTask> | QueuedTask
  undo(id: string): Promise<QueuedTask>
  drop(id: string): Promise<QueuedTask>
  commit(id: string, request: CommitRequest): Promise<CommitReply>
}

export interface HandlerOptions {
  readonly queue: TaskQueue
  readonly tasks: ServedTasks
  readonly store: Store
  /** null: tasks are only shown. */
  readonly submitter: TaskSubmitter | null
  readonly session: PageSession
  readonly runs: RunHandlerOptions
  /** Of the queue of trials for many machines; absent without one. */
  readonly queueStatus?: (() => Promise<QueueStatus>) | undefined
  readonly guardHome: string
}

export function handlers(options: HandlerOptions): Handlers {
  const { queue, tasks, store, session } = options
  const submitter = options.submitter ?? noSubmitter
  const withTask = async (
    id: string,
    work: (task: QueuedTask) => ApiAnswer | Promise<ApiAnswer>,
  ): Promise<ApiAnswer> => {
    const task = tasks.get(id)
    return task === null ? problem(404, 'not_found', `there is no task ${id}`) : await work(task)
  }
  const paper = (
    id: string,
    what: 'diff' | 'report',
    type: string,
    read: (task: QueuedTask) => string | null,
  ): Promise<ApiAnswer> =>
    withTask(id, (task) => {
      const text = read(task)
      if (text !== null) return { kind: 'text', type: `${type}; charset=utf-8`, text }
      return problem(404, 'not_found', `task ${id} is ${task.state} and has no ${what}`)
    })
  const change: typeof withTask = (id, work) => (options.submitter === null ? refuse() : withTask(id, work))
  const metrics = () => taskMetrics(tasks.list({}))
  return {
    about: () =>
      ok({
        version,
        store: store.root,
        project: options.runs.project,
        tasks: options.submitter !== null,
        queue: options.queueStatus !== undefined,
        now: store.clock.now().toISOString(),
      }),
    getQueue: async () =>
      options.queueStatus === undefined
        ? problem(404, 'no_queue', 'this server shows no queue', 'Start it with --queue postgres://…')
        : ok(await options.queueStatus()),
    signIn: ({ body, peerPort }) => {
      const cookie = session.signIn(body, peerPort)
      if (cookie === null)
        return problem(
          401,
          'unauthorized',
          'the code was used, is older than a minute, or is wrong',
          'Run "gantry view" again: it opens the page with a new code.',
        )
      return { kind: 'json', status: 200, value: {}, headers: { 'set-cookie': cookie } }
    },
    proveSession: ({ query: { nonce } }) => ok({ proof: session.proof(nonce) }),
    newCode: () => ({ kind: 'json', status: 201, value: session.newCode() }),
    ...runHandlers(options.runs),
    ...guardHandlers(options.guardHome, options.store),
    repositories: () => ok({ repositories: tasks.repositories }),
    submitTask: async ({ body }) => {
      const repository = servedRepository(body.repository, tasks.repositories)
      if (typeof repository !== 'string') return repository
      return created(await submitter.submit({ ...body, repository }))
    },
    listTasks: ({ query: { state, repository, limit } }) => {
      const wanted = repository === undefined ? undefined : servedRepository(repository, tasks.repositories)
      if (typeof wanted === 'object') return wanted
      return ok({ tasks: tasks.list({ limit, ...defined({ state, repository: wanted }) }) })
    },
    getTask: ({ id }) => withTask(id, ok),
    cancelTask: ({ id }) =>
      change(id, (task) => {
        if (!isOpen(task)) return problem(409, 'ended', `task ${id} is already ${task.state}`)
        const outcome = queue.cancel(id)
        return ok({ outcome: outcome.kind, task: atRest(outcome.task) })
      }),
    tellTask: ({ id, body }) =>
      change(id, (task) => {
        if (!isOpen(task)) return problem(409, 'ended', `task ${id} is already ${task.state}`)
        tellTask(queue, task, body.text)
        return ok(task)
      }),
    retryTask: ({ id }) =>
      withTask(id, async (task) => {
        if (isOpen(task) || task.state === 'SUCCESS')
          return problem(
            409,
            'not_retryable',
            `task ${id} is ${task.state}: only a failed task can be retried`,
          )
        return created(await submitter.retry(id))
      }),
    applyTask: ({ id }) => withTask(id, async () => created(await submitter.apply(id))),
    undoTask: ({ id }) => withTask(id, async () => ok(await submitter.undo(id))),
    dropTask: ({ id }) => withTask(id, async () => ok(await submitter.drop(id))),
    commitTask: ({ id, body }) => withTask(id, async () => created(await submitter.commit(id, body ?? {}))),
    taskDiff: ({ id, query: { attempt } }) =>
      paper(id, 'diff', 'text/x-diff', (task) =>
        attempt === undefined
          ? (taskReports(store, task).diff ?? lastDiff(queue, id))
          : lastDiff(queue, id, attempt),
      ),
    taskReport: ({ id }) =>
      paper(id, 'report', 'text/markdown', (task) => {
        const { summary, stuckReport } = taskReports(store, task)
        return summary ?? stuckReport
      }),
    taskLogs: ({ id, query: { after = 0, level, limit } }) =>
      withTask(id, (task) => {
        const found = queue.events({
          afterId: after,
          taskId: id,
          limit: limit + 1,
          ...(levelOf(level, task) === 'milestone' && { level: 'milestone' }),
        })
        const events = found
          .slice(0, limit)
          .map((one) => ({ id: one.id, level: one.level, event: one.event }))
        return ok({
          task_id: id,
          events,
          next_after: events.at(-1)?.id ?? after,
          has_more: found.length > limit,
        })
      }),
    taskDiagnosis: ({ id }) => withTask(id, async (task) => ok(await taskDiagnosis(queue, task))),
    taskEvents: ({ id, query, lastEventId }) =>
      withTask(id, (task) => {
        const start = streamStart(queue, query.after, lastEventId)
        if (start.kind === 'problem') return start
        const { afterId } = start
        const level = levelOf(query.level, task)
        const isOver = !isOpen(task) && afterId !== null && isEmpty(queue, id, level, afterId)
        if (isOver) return { kind: 'nothing' }
        return { kind: 'stream', filter: { taskId: id, level }, afterId: afterId ?? 0 }
      }),
    events: ({ query, lastEventId }) => {
      const start = streamStart(queue, query.after, lastEventId)
      if (start.kind === 'problem') return start
      return {
        kind: 'stream',
        filter: { level: query.level ?? 'milestone' },
        afterId: start.afterId ?? queue.lastEventId(),
      }
    },
    clearHistory: () => {
      if (options.submitter === null) return refuse()
      const cleared = tasks.repositories.map((repository) => clearHistory({ queue, store }, { repository }))
      return ok({ forgotten: cleared.reduce((sum, { forgotten }) => sum + forgotten, 0) })
    },
    metricsJson: () => ok(metrics()),
    metrics: () => ({
      kind: 'text',
      type: 'text/plain; version=0.0.4; charset=utf-8',
      text: prometheusText(metrics()),
    }),
    openapi: () => ok(openApiDocument()),
    health: () => {
      queue.lastEventId()
      return ok({ status: 'ok' })
    },
  }
}

const refuse = (): never => {
  throw new GantryError('USAGE', 'this server only shows tasks', {
    hint: 'Start "gantry serve" to change them.',
  })
}
const noSubmitter: TaskSubmitter = {
  ...{ submit: refuse, retry: refuse, apply: refuse, undo: refuse, drop: refuse, commit: refuse },
}

function created(value: QueuedTask | CommitReply): ApiAnswer {
  return { kind: 'json', status: 201, value }
}

function isOpen({ state }: QueuedTask): boolean {
  return state === 'QUEUED' || state === 'RUNNING'
}

/** A task queued as verbose shows details by default. */
function levelOf(
  asked: 'milestone' | 'detail' | undefined,
  { verbose }: Pick<QueuedTask, 'verbose'>,
): 'milestone' | 'detail' {
  return asked ?? (verbose ? 'detail' : 'milestone')
}

function isEmpty(queue: TaskQueue, taskId: string, level: 'milestone' | 'detail', afterId: number): boolean {
  const query = { afterId, taskId, limit: 1, ...(level === 'milestone' && { level }) }
  return queue.events(query).length === 0
}

function servedRepository(named: string, served: readonly string[]): string | ApiProblem {
  if (served.includes(named)) return named
  if (!isAbsolute(named) || !isDirectory(named))
    return problem(400, 'bad_repository', 'repository is not the absolute path of an existing directory')
  const real = realPath(named)
  if (served.includes(real)) return real
  return problem(
    400,
    'repository_not_served',
    'this server was not started for that repository',
    'Start gantry serve with --repository DIR.',
  )
}

/** The id after which a stream begins, from the client; null when it sends none. */
function streamStart(
  queue: Pick<TaskQueue, 'lastEventId'>,
  after: number | undefined,
  /** The header of a reconnecting client. It is newer than the id in its URL. */
  lastEventId: number | undefined,
): ApiProblem | { readonly kind: 'start'; readonly afterId: number | null } {
  const id = lastEventId ?? after
  if (id === undefined || id <= queue.lastEventId()) return { kind: 'start', afterId: id ?? null }
  return problem(
    400,
    'future_event_id',
    `event ${id} does not exist yet`,
    'The store may have been replaced. Start again without an id.',
  )
}

type TaskDiagnosis = z.output<typeof diagnosisSchema>

const page = 500

/** Computed from all events of a task. Yields to other work after each page, because there may be many. */
async function taskDiagnosis(queue: TaskQueue, { id, error_message }: TaskRecord): Promise<TaskDiagnosis> {
  const attempts = new Map<number, TaskDiagnosis['attempts'][number]>()
  const replans = new Map<number, string>()
  let [files, before]: [readonly FileDiff[], readonly FileDiff[]] = [[], []]
  const fold = (event: TaskEvent): void => {
    if (event.kind === 'verifier_result') {
      const { attempt, run_id, status, failure, duration_ms } = event
      const changed = files.map(({ path, added, removed, text }) => {
        const isSame = before.some((old) => old.path === path && old.text === text)
        return { path, added, removed, changed: !isSame }
      })
      attempts.set(attempt, {
        attempt,
        run_id,
        status,
        failure,
        duration_ms,
        diagnosis: null,
        files: changed,
      })
      before = files
    } else if (event.kind === 'diff') ({ files } = splitDiff(event.text))
    else if (event.kind === 'diagnosis') {
      const failed = attempts.get(event.attempt)
      if (failed !== undefined) attempts.set(event.attempt, { ...failed, diagnosis: event.text })
    } else if (event.kind === 'replan') replans.set(event.attempt, event.strategy)
  }
  for (let afterId = 0; ; ) {
    const events = queue.events({ afterId, taskId: id, limit: page })
    for (const { event } of events) fold(event as unknown as TaskEvent)
    afterId = events.at(-1)?.id ?? afterId
    if (events.length < page) break
    await turn()
  }
  return {
    task_id: id,
    attempts: [...attempts.values()].toSorted((a, b) => a.attempt - b.attempt),
    replans: [...replans].map(([attempt, strategy]) => ({ attempt, strategy })),
    error_message,
  }
}
