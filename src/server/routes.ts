import { z } from 'zod'
import { taskStates } from '../store/queue/contract.ts'
import type { ApiAnswer } from './answer.ts'
import {
  aboutSchema,
  cancelSchema,
  codeSchema,
  commitRequestSchema,
  commitSchema,
  diagnosisSchema,
  emptySchema,
  forgottenSchema,
  healthSchema,
  logsSchema,
  messageSchema,
  metricsSchema,
  newTaskSchema,
  type PathParameter,
  proofSchema,
  queueSchema,
  repositoryListSchema,
  signInSchema,
  taskListSchema,
  taskSchema,
} from './api-schemas.ts'
import { guardRoutes } from './guard/guard-routes.ts'
import { created, json, namedRoute, number, type Route, type RouteReply, text } from './route.ts'
import { runRoutes } from './runs/run-routes.ts'

const level = z.enum(['milestone', 'detail']).optional().meta({
  description: 'detail includes milestones. Default: detail for a task queued as verbose, else milestone.',
})
const after = number(z.int().min(0)).optional().meta({ description: 'Only events with a higher id.' })
const streamQuery = z.strictObject({ after, level })

const queued = created(taskSchema, 'The queued task.')
const eventStream: RouteReply = {
  status: 200,
  description:
    'Server-sent events: `id` is the position in the feed, `event` the kind, `data` the event as JSON. Comments keep the connection open.',
  type: 'text/event-stream',
}

export const routes = {
  about: {
    at: 'GET /v1/about',
    summary: 'Get what this server is and what it allows.',
    reply: json(aboutSchema, 'Facts for clients.'),
  },
  getQueue: {
    at: 'GET /v1/queue',
    summary: 'Get the queue of trials that several machines work on.',
    reply: json(queueSchema, 'The queue as it is now.'),
    problems: [404, 503],
  },
  signIn: {
    at: 'POST /v1/session',
    summary: 'Exchange a code that works once, or the token, for the cookie of the page.',
    isOpen: true,
    body: signInSchema,
    reply: json(z.object({}), 'The cookie is set.'),
    problems: [401],
  },
  proveSession: {
    at: 'GET /v1/session/proof',
    summary: 'Prove that this server knows the token, before a client sends it. Needs no token.',
    isOpen: true,
    query: z.strictObject({
      nonce: z
        .string()
        .regex(/^[\w-]{16,128}$/)
        .meta({ description: 'Random, for this request only.' }),
    }),
    reply: json(proofSchema, 'HMAC-SHA256 with the token as key, over the port and the nonce.'),
  },
  newCode: {
    at: 'POST /v1/session/codes',
    summary: 'Make a code that signs a browser in: it works once and for a minute.',
    body: emptySchema,
    reply: created(codeSchema, 'The code.'),
  },
  ...runRoutes,
  ...guardRoutes,
  repositories: {
    at: 'GET /v1/repositories',
    summary: 'List the repositories that the server was started for.',
    reply: json(repositoryListSchema, 'Their paths.'),
  },
  submitTask: {
    at: 'POST /v1/tasks',
    summary: 'Add a task to the queue of its repository.',
    body: newTaskSchema,
    reply: queued,
  },
  listTasks: {
    at: 'GET /v1/tasks',
    summary: 'List tasks: running, queued in order, then ended, newest first.',
    query: z.strictObject({
      state: z.enum(taskStates).optional(),
      repository: z.string().optional(),
      limit: number(z.int().min(1).max(1_000)).default(100),
    }),
    reply: json(taskListSchema, 'The tasks.'),
  },
  getTask: {
    at: 'GET /v1/tasks/{id}',
    summary: 'Get one task.',
    reply: json(taskSchema, 'The task.'),
  },
  cancelTask: {
    at: 'POST /v1/tasks/{id}/cancel',
    summary: 'Cancel a queued or running task. Partial changes stay.',
    body: emptySchema,
    reply: json(cancelSchema, 'The result.'),
    problems: [409],
  },
  tellTask: {
    at: 'POST /v1/tasks/{id}/tell',
    summary: 'Send a message to a queued or running task, or the answer to a question of its Editor.',
    body: messageSchema,
    reply: json(taskSchema, 'The task.'),
    problems: [409],
  },
  retryTask: {
    at: 'POST /v1/tasks/{id}/retry',
    summary: 'Queue a failed task again, with its stuck report.',
    body: emptySchema,
    reply: queued,
    problems: [409],
  },
  applyTask: {
    at: 'POST /v1/tasks/{id}/apply',
    summary:
      'Write the change of a verified task into its repository, or queue a task that applies and verifies the proposal of a dry run.',
    body: emptySchema,
    reply: queued,
    problems: [409],
  },
  undoTask: {
    at: 'POST /v1/tasks/{id}/undo',
    summary: 'Take the change of a task out of its repository again.',
    body: emptySchema,
    reply: json(taskSchema, 'The task.'),
  },
  commitTask: {
    at: 'POST /v1/tasks/{id}/commit',
    summary: 'Commit the change of a verified task on a new branch of its repository.',
    body: commitRequestSchema.optional(),
    reply: created(commitSchema, 'The commit, with title and body of a pull request.'),
  },
  dropTask: {
    at: 'POST /v1/tasks/{id}/drop',
    summary: 'Stop keeping the change of a task or the proposal of a dry run.',
    body: emptySchema,
    reply: json(taskSchema, 'The task.'),
  },
  taskDiff: {
    at: 'GET /v1/tasks/{id}/diff',
    summary: 'Get the proposal of a dry run as a patch for git apply, or the changes of a task so far.',
    query: z.strictObject({
      attempt: number(z.int().min(1))
        .optional()
        .meta({ description: 'The changes that this attempt verified.' }),
    }),
    reply: text('text/x-diff', 'A unified diff.'),
  },
  taskReport: {
    at: 'GET /v1/tasks/{id}/report',
    summary: 'Get the success summary or the stuck report.',
    reply: text('text/markdown', 'Markdown.'),
  },
  taskLogs: {
    at: 'GET /v1/tasks/{id}/logs',
    summary: 'Get the events of a task in pages.',
    query: z.strictObject({ after, level, limit: number(z.int().min(1).max(1_000)).default(200) }),
    reply: json(logsSchema, 'A page of events.'),
  },
  taskDiagnosis: {
    at: 'GET /v1/tasks/{id}/diagnosis',
    summary: 'Get why verifications failed and how the strategy changed.',
    reply: json(diagnosisSchema, 'Attempts and REPLANs in order.'),
  },
  taskEvents: {
    at: 'GET /v1/tasks/{id}/events',
    summary: 'Stream the events of one task from its beginning until it ends.',
    query: streamQuery,
    reply: eventStream,
  },
  events: {
    at: 'GET /v1/events',
    summary: 'Stream the events of all tasks from now on.',
    query: streamQuery,
    reply: eventStream,
  },
  clearHistory: {
    at: 'DELETE /v1/history',
    summary:
      'Delete ended tasks from the queue, except those whose change is kept or that are stuck. Runs and reports stay.',
    reply: json(forgottenSchema, 'The number of deleted tasks.'),
  },
  metricsJson: {
    at: 'GET /v1/metrics',
    summary: 'Get task counts by state, attempts, REPLANs and latencies.',
    reply: json(metricsSchema, 'Metrics.'),
  },
  metrics: {
    at: 'GET /metrics',
    summary: 'Get the metrics in the text format of Prometheus.',
    reply: text('text/plain', 'Prometheus text, version 0.0.4.'),
  },
  openapi: {
    at: 'GET /openapi.json',
    summary: 'Get this document.',
    reply: json(z.record(z.string(), z.unknown()), 'OpenAPI 3.1.'),
  },
  health: {
    at: 'GET /health',
    summary: 'Check that the server and its store work. Needs no token.',
    isOpen: true,
    reply: json(healthSchema, 'They work.'),
    problems: [503],
  },
} as const satisfies Record<string, Route>

export const routeTable = Object.entries<Route>(routes).map(([name, route]) => namedRoute(name, route))

export type RouteName = keyof typeof routes

type QueryOf<R> = R extends { readonly query: infer Q extends z.ZodType } ? z.output<Q> : undefined
type BodyOf<R> = R extends { readonly body: infer B extends z.ZodType } ? z.output<B> : undefined

/** A validated request. The parameters that its path does not have are empty. */
export interface ValidRequest<N extends RouteName> extends Readonly<Record<PathParameter, string>> {
  readonly query: QueryOf<(typeof routes)[N]>
  readonly body: BodyOf<(typeof routes)[N]>
  readonly lastEventId: number | undefined
  /** Of the client; undefined without a connection. */
  readonly peerPort: number | undefined
}

export type Handlers = {
  readonly [N in RouteName]: (given: ValidRequest<N>) => ApiAnswer | Promise<ApiAnswer>
}
