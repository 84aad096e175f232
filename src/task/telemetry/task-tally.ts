/** What counts of one task, kept with it when it ends. */
export interface TaskTally {
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
