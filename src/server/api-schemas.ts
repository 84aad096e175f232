import { z } from 'zod'
import { sandboxNames } from '../sandboxes/contract.ts'
import { taskStates } from '../store/queue/contract.ts'
import { taskTextLimits, whyNoTask } from '../task/parse-task.ts'

/** Schemas that have a name in the OpenAPI document. */
export const components = z.registry<{ id: string }>()

function named<S extends z.ZodType>(id: string, schema: S): S {
  components.add(schema, { id })
  return schema
}

const isoTime = z.iso.datetime()
const free = z.record(z.string(), z.unknown())
const words = z.string().min(1).max(200)

export const taskIdSchema = z
  .string()
  .regex(/^task_\d{8}_\d{6}_[a-z0-9]{6}$/, { error: 'is no id of a task: task_YYYYMMDD_HHMMSS_xxxxxx' })

export const errorSchema = named(
  'Error',
  z.object({
    error: z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() }),
  }),
)

export const newTaskSchema = named(
  'NewTask',
  z.strictObject({
    description: z
      .string()
      .superRefine((text, { addIssue }) => {
        const why = whyNoTask(text)
        if (why !== null) addIssue({ code: 'custom', message: why })
      })
      .meta({ minLength: 1, maxLength: taskTextLimits.maxChars, description: 'What is to be done.' }),
    repository: z.string().max(4_096).meta({
      description: 'Absolute path of the repository: one of those the server was started for.',
    }),
    dry_run: z.boolean().default(false),
    verbose: z.boolean().default(false),
    agent: words.optional().meta({ description: 'Who edits; builtin by default.' }),
    model: words.optional().meta({ description: 'As provider:model.' }),
    sandbox: z.enum(['auto', ...sandboxNames]).optional(),
    max_cost_usd: z.number().positive().max(1_000_000).optional(),
  }),
)
export type NewTaskBody = z.output<typeof newTaskSchema>

/** For requests that need no body. */
export const emptySchema = z.strictObject({}).optional()

export const taskSchema = named(
  'Task',
  z.object({
    id: z.string(),
    repository: z.string(),
    description: z.string(),
    state: z.enum(taskStates),
    created_at: isoTime,
    started_at: isoTime.nullable(),
    completed_at: isoTime.nullable(),
    dry_run: z.boolean(),
    verbose: z.boolean(),
    run_ids: z.array(z.string()),
    task_run_id: z.string().nullable(),
    current_attempt: z.int(),
    phase: z.string().nullable(),
    summary: z.string().nullable(),
    error_message: z.string().nullable(),
    options: free,
    metrics: free.nullable(),
    position: z
      .int()
      .nullable()
      .meta({ description: 'Among the queued tasks of its repository, from 1; null when it is not queued.' }),
    abandoned: z
      .boolean()
      .meta({ description: 'Running, and nobody works on it any more: the next worker takes it up.' }),
  }),
)

export const taskListSchema = named('TaskList', z.object({ tasks: z.array(taskSchema) }))

export const cancelSchema = named(
  'Cancellation',
  z.object({
    outcome: z.enum(['removed', 'asked', 'cancelled']).meta({
      description:
        'removed: it was queued and is gone; asked: whoever works on it stops; cancelled: nobody was working on it any more.',
    }),
    task: taskSchema,
  }),
)

export const logsSchema = named(
  'Logs',
  z.object({
    task_id: z.string(),
    events: z.array(z.object({ id: z.int(), level: z.enum(['milestone', 'detail']), event: free })),
    next_after: z.int().meta({ description: 'Ask for what comes after it with ?after=.' }),
    has_more: z.boolean(),
  }),
)

export const diagnosisSchema = named(
  'Diagnosis',
  z.object({
    task_id: z.string(),
    attempts: z.array(
      z.object({
        attempt: z.int(),
        run_id: z.string().nullable(),
        status: z.string(),
        failure: z.string().nullable(),
        diagnosis: z.string().nullable(),
      }),
    ),
    replans: z.array(z.object({ attempt: z.int(), strategy: z.string() })),
    error_message: z.string().nullable(),
  }),
)

const amount = z.number().nullable()
const latencySchema = z.object({
  count: z.int(),
  total_ms: z.number(),
  average_ms: amount,
  minimum_ms: amount,
  maximum_ms: amount,
  p50_ms: amount,
  p95_ms: amount,
  p99_ms: amount,
})

export const metricsSchema = named(
  'Metrics',
  z.object({
    tasks: z.object({
      total: z.int(),
      by_state: z.record(z.enum(taskStates), z.int()),
      success_rate: amount,
      running: z.int(),
    }),
    verification: z.object({ attempts: z.int(), average: amount, maximum: z.int() }),
    replan: z.object({ total: z.int(), average: amount, frequency: amount }),
    latency: z.object({ scout_a: latencySchema, scout_b: latencySchema, verifier: latencySchema }),
    history: z.array(
      z.object({
        id: z.string(),
        state: z.enum(taskStates),
        attempts: z.int(),
        replans: z.int(),
        queries: z.int(),
        scout_ms: z.number(),
        verifier_ms: z.number(),
        duration_ms: z.number(),
        cost_usd: amount,
      }),
    ),
  }),
)

export const forgottenSchema = named('Forgotten', z.object({ forgotten: z.int() }))
export const healthSchema = named('Health', z.object({ status: z.literal('ok') }))
