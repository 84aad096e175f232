import { z } from 'zod'
import { sum } from '../../core/sum.ts'
import { type TaskRecord, type TaskState, taskStates } from '../../store/queue/contract.ts'

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

export type Latency = z.output<typeof latencySchema>

/** `gantry task metrics --json`. A public format. Rates are of ended tasks; null without any. */
export const taskMetricsSchema = z.object({
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
})

export type TaskMetrics = z.output<typeof taskMetricsSchema>

const historyLength = 100

/** Metrics over the tasks of a queue. Ended tasks are newest first. */
export function taskMetrics(tasks: readonly TaskRecord[]): TaskMetrics {
  const ended = tasks.filter(({ state }) => state !== 'QUEUED' && state !== 'RUNNING')
  const tallied = ended.flatMap((task) => {
    const tally = tallyFrom(task.metrics)
    return tally === null ? [] : [{ task, tally }]
  })
  const tallies = tallied.map(({ tally }) => tally)
  const count = (wanted: TaskState): number => tasks.filter(({ state }) => state === wanted).length
  const attempts = sum(tallies.map((tally) => tally.attempts))
  const replans = sum(tallies.map((tally) => tally.replans))
  const all = (pick: (tally: TaskTally) => readonly number[]): Latency => latency(tallies.flatMap(pick))
  return {
    tasks: {
      total: tasks.length,
      by_state: Object.fromEntries(taskStates.map((state) => [state, count(state)])) as Record<
        TaskState,
        number
      >,
      success_rate: share(count('SUCCESS'), ended.length),
      running: count('RUNNING'),
    },
    verification: {
      attempts,
      average: share(attempts, tallies.length),
      maximum: Math.max(0, ...tallies.map((tally) => tally.attempts)),
    },
    replan: {
      total: replans,
      average: share(replans, tallies.length),
      frequency: share(tallies.filter((tally) => tally.replans > 0).length, tallies.length),
    },
    latency: {
      scout_a: all((tally) => tally.scout_a_ms),
      scout_b: all((tally) => tally.scout_b_ms),
      verifier: all((tally) => tally.verifier_ms),
    },
    history: tallied.slice(0, historyLength).map(({ task: { id, state }, tally }) => ({
      id,
      state,
      attempts: tally.attempts,
      replans: tally.replans,
      queries: tally.scout_a_ms.length + tally.scout_b_ms.length,
      scout_ms: sum([...tally.scout_a_ms, ...tally.scout_b_ms]),
      verifier_ms: sum(tally.verifier_ms),
      duration_ms: tally.duration_ms,
      cost_usd: tally.cost_usd,
    })),
  }
}

function latency(values: readonly number[]): Latency {
  const total = sum(values)
  return {
    count: values.length,
    total_ms: total,
    average_ms: share(total, values.length),
    minimum_ms: percentile(values, 0),
    maximum_ms: percentile(values, 1),
    p50_ms: percentile(values, 0.5),
    p95_ms: percentile(values, 0.95),
    p99_ms: percentile(values, 0.99),
  }
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

/** The numbers of one task, stored with it when it ends. */
interface TaskTally {
  readonly attempts: number
  readonly replans: number
  readonly scout_a_ms: readonly number[]
  readonly scout_b_ms: readonly number[]
  readonly verifier_ms: readonly number[]
  /** null when some of it was unmetered. */
  readonly cost_usd: number | null
  readonly duration_ms: number
}

/** Computed from all events of one task, including those before a resume. */
export function taskTally(events: Iterable<Readonly<Record<string, unknown>>>): TaskTally {
  const times = { scout_a: [] as number[], scout_b: [] as number[], verifier: [] as number[] }
  let [attempts, replans, duration] = [0, 0, 0]
  let cost: number | null = 0
  let spent = 0
  for (const event of events) {
    const ms = numberOf(event.duration_ms)
    if (event.kind === 'scout_query') times[event.scout === 'scout_a' ? 'scout_a' : 'scout_b'].push(ms)
    if (event.kind === 'verifier_result') {
      times.verifier.push(ms)
      attempts += 1
    }
    if (event.kind === 'replan') replans += 1
    if (event.kind === 'task_ended') {
      duration = ms
      // A REPLAN that ended the task has no strategy event, so its cost is only here.
      replans = Math.max(replans, numberOf(event.replans))
      spent = Math.max(spent, numberOf(event.cost_usd))
    }
    if (event.kind === 'scout_query' || event.kind === 'edit')
      cost = cost === null || typeof event.cost_usd !== 'number' ? null : cost + event.cost_usd
  }
  return {
    ...{ attempts, replans, scout_a_ms: times.scout_a, scout_b_ms: times.scout_b },
    verifier_ms: times.verifier,
    cost_usd: cost === null ? null : Math.max(cost, spent),
    duration_ms: duration,
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** The stored tally; null when it has another format. */
export function tallyFrom(value: unknown): TaskTally | null {
  if (typeof value !== 'object' || value === null || !('verifier_ms' in value)) return null
  return value as TaskTally
}

/** The smallest value that at least a share of all values do not exceed (nearest rank); null without values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
}
