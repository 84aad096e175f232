import { isAbsolute } from 'node:path'
import { isDirectory } from '../io/path-kind.ts'
import { realPath } from '../io/resolve-links.ts'
import type { Store } from '../store/contract.ts'
import type { QueuedTask, TaskQueue } from '../store/queue/contract.ts'
import { lastDiff } from '../task/task-events.ts'
import { taskReports } from '../task/task-reports.ts'
import { prometheusText } from '../task/telemetry/prometheus-text.ts'
import { taskMetrics } from '../task/telemetry/task-metrics.ts'
import { type Answer, type Problem, problem } from './answer.ts'
import type { NewTaskBody } from './api-schemas.ts'
import { openApiDocument } from './openapi.ts'
import type { Given, RouteName } from './routes.ts'
import { atRest, type ServedTasks } from './served-tasks.ts'
import { streamStart } from './stream-start.ts'
import { taskDiagnosis } from './task-diagnosis.ts'

/** How tasks come into the queue: whoever starts the server knows. What they throw as GantryError is told to the client. */
export interface TaskDesk {
  submit(task: NewTaskBody): Promise<QueuedTask> | QueuedTask
  /** Of a task that ended without success. */
  retry(id: string): Promise<QueuedTask> | QueuedTask
  /** Of a dry run that succeeded. */
  apply(id: string): Promise<QueuedTask> | QueuedTask
}

export interface HandlerPowers {
  readonly queue: TaskQueue
  readonly tasks: ServedTasks
  readonly store: Store
  readonly desk: TaskDesk
}

export type Handlers = { readonly [N in RouteName]: (given: Given<N>) => Answer | Promise<Answer> }

export function handlers({ queue, tasks, store, desk }: HandlerPowers): Handlers {
  const withTask = async (
    id: string,
    work: (task: QueuedTask) => Answer | Promise<Answer>,
  ): Promise<Answer> => {
    const task = tasks.get(id)
    return task === null ? problem(404, 'not_found', `there is no task ${id}`) : await work(task)
  }
  const paper = (id: string, what: 'diff' | 'report', type: string): Promise<Answer> =>
    withTask(id, (task) => {
      const { diff, summary, stuckReport } = taskReports(store, task)
      const text = what === 'diff' ? (diff ?? lastDiff(queue, id)) : (summary ?? stuckReport)
      if (text !== null) return { kind: 'text', type: `${type}; charset=utf-8`, text }
      return problem(404, 'not_found', `task ${id} is ${task.state} and has no ${what}`)
    })
  const metrics = () => taskMetrics(tasks.list({}))
  return {
    submitTask: async ({ body }) => {
      const repository = servedRepository(body.repository, tasks.repositories)
      if (typeof repository !== 'string') return repository
      return created(await desk.submit({ ...body, repository }))
    },
    listTasks: ({ query: { state, repository, limit } }) => {
      const wanted = repository === undefined ? undefined : servedRepository(repository, tasks.repositories)
      if (typeof wanted === 'object') return wanted
      const found = tasks.list({
        limit,
        ...(state !== undefined && { state }),
        ...(wanted !== undefined && { repository: wanted }),
      })
      return ok({ tasks: found })
    },
    getTask: ({ id }) => withTask(id, ok),
    cancelTask: ({ id }) =>
      withTask(id, (task) => {
        if (!isOpen(task)) return problem(409, 'ended', `task ${id} is ${task.state} already`)
        const outcome = queue.cancel(id)
        return ok({ outcome: outcome.kind, task: atRest(outcome.task) })
      }),
    retryTask: ({ id }) =>
      withTask(id, async (task) => {
        if (isOpen(task) || task.state === 'SUCCESS')
          return problem(409, 'not_retryable', `task ${id} is ${task.state}: only one that failed is retried`)
        return created(await desk.retry(id))
      }),
    applyTask: ({ id }) =>
      withTask(id, async (task) => {
        if (!task.dry_run || task.state !== 'SUCCESS')
          return problem(409, 'no_proposal', `task ${id} is no dry run that came to a proposal`)
        return created(await desk.apply(id))
      }),
    taskDiff: ({ id }) => paper(id, 'diff', 'text/x-diff'),
    taskReport: ({ id }) => paper(id, 'report', 'text/markdown'),
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
        const start = streamStart(queue, { after: query.after, lastEventId })
        if (start.kind === 'problem') return start
        const { afterId } = start
        const level = levelOf(query.level, task)
        const isOver = !isOpen(task) && afterId !== null && isEmpty(queue, id, level, afterId)
        if (isOver) return { kind: 'nothing' }
        return { kind: 'stream', filter: { taskId: id, level }, afterId: afterId ?? 0 }
      }),
    events: ({ query, lastEventId }) => {
      const start = streamStart(queue, { after: query.after, lastEventId })
      if (start.kind === 'problem') return start
      return {
        kind: 'stream',
        filter: { level: query.level ?? 'milestone' },
        afterId: start.afterId ?? queue.lastEventId(),
      }
    },
    clearHistory: () => ok({ forgotten: tasks.clearHistory() }),
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

function ok(value: unknown): Answer {
  return { kind: 'json', status: 200, value }
}

function created(task: QueuedTask): Answer {
  return { kind: 'json', status: 201, value: task }
}

function isOpen({ state }: QueuedTask): boolean {
  return state === 'QUEUED' || state === 'RUNNING'
}

/** Whoever queued a task as verbose wants to see everything unless told otherwise. */
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

function servedRepository(named: string, served: readonly string[]): string | Problem {
  if (!isAbsolute(named) || !isDirectory(named))
    return problem(400, 'bad_repository', 'repository is no absolute path of an existing directory')
  const real = realPath(named)
  if (served.includes(real)) return real
  return problem(
    400,
    'repository_not_served',
    'this server was not started for that repository',
    'Start gantry serve with --repository DIR.',
  )
}
