import { z } from 'zod'
import { parseDuration } from '../core/duration.ts'
import { sandboxNames } from '../sandboxes/contract.ts'
import { taskStates } from '../store/queue/contract.ts'
import { parseRunId } from '../store/run-id.ts'
import { isSafeName } from '../store/run-paths.ts'
import type { QueueStatus } from '../store/trial-queue/why-waiting.ts'
import { taskTextLimits, taskTextProblem } from '../task/parse-task.ts'
import { taskMetricsSchema } from '../task/telemetry/task-metrics.ts'

/** Schemas that have a name in the OpenAPI document. */
export const components = z.registry<{ id: string }>()

export function named<S extends z.ZodType>(id: string, schema: S): S {
  components.add(schema, { id })
  return schema
}

/** A format that the source describes by a type. The client of the page takes the type from there. */
export function shared<T>(id: string, file: string, description: string): z.ZodType<T> {
  const schema = z.looseObject({}).meta({ description, 'x-typescript': file })
  components.add(schema, { id })
  return schema as unknown as z.ZodType<T>
}

const isoTime = z.iso.datetime()
const free = z.record(z.string(), z.unknown())
const words = z.string().min(1).max(200)

const taskIdSchema = z
  .string()
  .regex(/^task_\d{8}_\d{6}_[a-z0-9]{6}$/, { error: 'is not a task id: task_YYYYMMDD_HHMMSS_xxxxxx' })

export const pathParameters = {
  id: taskIdSchema,
  run: z
    .string()
    .refine((id) => parseRunId(id) !== null, { error: 'is not a run id: run_YYYYMMDD_HHMMSS_xxxxxx' })
    .meta({ description: 'A run id.' }),
  trial: z.string().refine(isSafeName, { error: 'is not a trial id' }).meta({ description: 'A trial id.' }),
  session: z.string().min(1).max(200).meta({ description: 'A session of the guard.' }),
}
export type PathParameter = keyof typeof pathParameters

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
        const why = taskTextProblem(text)
        if (why !== null) addIssue({ code: 'custom', message: why })
      })
      .meta({ minLength: 1, maxLength: taskTextLimits.maxChars, description: 'What to do.' }),
    repository: z.string().max(4_096).meta({
      description: 'Absolute path of a repository the server was started for.',
    }),
    dry_run: z.boolean().default(false),
    verbose: z.boolean().default(false),
    agent: words.optional().meta({ description: 'The agent that edits. Default: builtin.' }),
    model: words.optional().meta({ description: 'As provider:model.' }),
    sandbox: z.enum(['auto', ...sandboxNames]).optional(),
    max_cost_usd: z.number().positive().max(1_000_000).optional(),
    questions: z
      .string()
      .refine((text) => (parseDuration(text) ?? 0) > 0, {
        error: 'is not a duration such as 10m: write a number and ms, s, m, h or d',
      })
      .optional()
      .meta({ description: 'Let the Editor ask, and wait this long for an answer, such as 10m.' }),
    here: z.boolean().optional().meta({
      description: 'Work in the tree of the repository instead of one of its own.',
    }),
    with_changes: z.boolean().optional().meta({ description: 'Start from uncommitted changes too.' }),
    apply: z.boolean().optional().meta({ description: 'Write the verified change into the repository.' }),
  }),
)
export type NewTaskBody = z.output<typeof newTaskSchema>

export const messageSchema = named(
  'Message',
  z.strictObject({ text: z.string().min(1).max(taskTextLimits.maxChars) }),
)

export const commitRequestSchema = named(
  'CommitRequest',
  z.strictObject({
    branch: words.optional().meta({ description: 'Default: gantry/ and the id of the task.' }),
    message: z.string().min(1).max(taskTextLimits.maxChars).optional(),
  }),
)
export type CommitRequest = z.output<typeof commitRequestSchema>

export const commitSchema = named(
  'Commit',
  z.object({
    task_id: z.string(),
    branch: z.string(),
    commit: z.string(),
    title: z.string(),
    body: z.string(),
  }),
)
export type CommitReply = z.output<typeof commitSchema>

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
    position: z.int().nullable().meta({
      description: 'Position among the queued tasks of its repository, from 1; null when it is not queued.',
    }),
    abandoned: z.boolean().meta({ description: 'Running, but its worker died. The next worker resumes it.' }),
  }),
)

export const repositoryListSchema = named(
  'RepositoryList',
  z.object({ repositories: z.array(z.string().meta({ description: 'Absolute path.' })) }),
)

export const taskListSchema = named('TaskList', z.object({ tasks: z.array(taskSchema) }))

export const cancelSchema = named(
  'Cancellation',
  z.object({
    outcome: z.enum(['asked', 'cancelled']).meta({
      description:
        'asked: its worker is asked to stop; cancelled: it was queued or its worker was dead, so it ended at once.',
    }),
    task: taskSchema,
  }),
)

export const logsSchema = named(
  'Logs',
  z.object({
    task_id: z.string(),
    events: z.array(z.object({ id: z.int(), level: z.enum(['milestone', 'detail']), event: free })),
    next_after: z.int().meta({ description: 'Pass it as ?after= to get the next page.' }),
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
        duration_ms: z.number(),
        diagnosis: z.string().nullable(),
        files: z
          .array(z.object({ path: z.string(), added: z.int(), removed: z.int(), changed: z.boolean() }))
          .meta({ description: 'Files of its diff; changed: by this attempt, not only by earlier ones.' }),
      }),
    ),
    replans: z.array(z.object({ attempt: z.int(), strategy: z.string() })),
    error_message: z.string().nullable(),
  }),
)

export const metricsSchema = named('Metrics', taskMetricsSchema)

export const forgottenSchema = named('Forgotten', z.object({ forgotten: z.int() }))
export const healthSchema = named('Health', z.object({ status: z.literal('ok') }))

export const aboutSchema = named(
  'About',
  z.object({
    version: z.string(),
    store: z.string(),
    project: z.string().nullable().meta({ description: 'Directory of gantry.yaml, which labels belong to.' }),
    tasks: z.boolean().meta({ description: 'Whether tasks can be submitted and changed here.' }),
    queue: z.boolean().meta({ description: 'Whether it shows a queue of trials for many machines.' }),
    now: isoTime,
  }),
)
export const queueSchema = shared<QueueStatus>(
  'QueueStatus',
  'src/store/trial-queue/why-waiting.ts',
  'Runs with their rates, numbers by state, pauses, workers, and what waits for what.',
)
export const signInSchema = named(
  'SignIn',
  z.union([
    z.strictObject({ code: z.string().min(8).max(200) }),
    z.strictObject({ token: z.string().min(8).max(600) }),
  ]),
)
export const proofSchema = named('SessionProof', z.object({ proof: z.string() }))
export const codeSchema = named('SignInCode', z.object({ code: z.string(), expires_at: isoTime }))
