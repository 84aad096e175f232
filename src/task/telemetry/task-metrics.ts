import { percentile } from '../../core/stats/percentile.ts'
import { type TaskRecord, type TaskState, taskStates } from '../../store/queue/contract.ts'

/** `gantry task metrics --json`. A public format. */
export interface TaskMetrics {
  readonly tasks: {
    readonly total: number
    readonly by_state: Readonly<Record<TaskState, number>>
    /** Of the tasks that ended; null without one. */
    readonly success_rate: number | null
    readonly running: number
  }
  readonly verification: {
    readonly attempts: number
    readonly average: number | null
    readonly maximum: number
  }
  readonly replan: {
    readonly total: number
    readonly average: number | null
    readonly frequency: number | null
  }
  readonly latency: Readonly<Record<'scout_a' | 'scout_b' | 'verifier', Latency>>
  readonly history: readonly EndedTaskMetrics[]
}

export interface Latency {
  readonly count: number
  readonly total_ms: number
  readonly average_ms: number | null
  readonly minimum_ms: number | null
  readonly maximum_ms: number | null
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly p99_ms: number | null
}

export interface EndedTaskMetrics {
  readonly id: string
  readonly state: TaskState
  readonly attempts: number
  readonly replans: number
  readonly queries: number
  readonly scout_ms: number
  readonly verifier_ms: number
  readonly duration_ms: number
  readonly cost_usd: number | null
}

const historyLength = 100

/** Over the tasks of a queue, those that ended newest first. */
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

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

/** What counts of one task, kept with it when it ends. */
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

/** Over the events of one task. A resumed task told of everything it did before, too. */
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
      // A REPLAN that ended the task named no strategy; asking for one is paid for by no other event.
      replans = Math.max(replans, numberOf(event.replans))
      spent = Math.max(spent, numberOf(event.cost_usd))
    }
    if (event.kind === 'scout_query' || event.kind === 'edit')
      cost = cost === null || typeof event.cost_usd !== 'number' ? null : cost + event.cost_usd
  }
  return {
    attempts,
    replans,
    scout_a_ms: times.scout_a,
    scout_b_ms: times.scout_b,
    verifier_ms: times.verifier,
    cost_usd: cost === null ? null : Math.max(cost, spent),
    duration_ms: duration,
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** What was kept, when it still has the form it was kept in. */
export function tallyFrom(value: unknown): TaskTally | null {
  if (typeof value !== 'object' || value === null || !('verifier_ms' in value)) return null
  return value as TaskTally
}
