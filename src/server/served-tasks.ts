import type { QueuedTask, TaskQueue, TaskRecord, TaskState } from '../store/queue/contract.ts'

/** The queue as this server shows it: of the repositories it was started for, and no others. */
export interface ServedTasks {
  readonly repositories: readonly string[]
  get(id: string): QueuedTask | null
  list(filter: ServedFilter): readonly QueuedTask[]
  isServed(taskId: string): boolean
  /** It ended, or is not there any more. */
  isOver(taskId: string): boolean
  clearHistory(): number
}

export interface ServedFilter {
  readonly state?: TaskState
  /** One of those served. */
  readonly repository?: string
  readonly limit?: number
}

const knownMax = 10_000
const rank = (state: TaskState): number => ({ RUNNING: 0, QUEUED: 1 })[state as string] ?? 2

export function servedTasks(queue: TaskQueue, repositories: readonly string[]): ServedTasks {
  /** Asked of every event; what repository a task is of never changes. */
  const known = new Map<string, boolean>()
  const find = (id: string): TaskRecord | null => {
    const task = queue.get(id)
    return task !== null && repositories.includes(task.repository) ? task : null
  }
  return {
    repositories,
    get(id) {
      const task = find(id)
      if (task === null) return null
      const open = task.state === 'QUEUED' || task.state === 'RUNNING'
      const among = open ? queue.list({ repository: task.repository, states: [task.state] }) : []
      return among.find((other) => other.id === id) ?? atRest(task)
    },
    list({ state, repository, limit }) {
      const wanted = repositories.filter((one) => repository === undefined || one === repository)
      const found = wanted.flatMap((one) =>
        queue.list({
          repository: one,
          ...(state !== undefined && { states: [state] }),
          ...(limit !== undefined && { limit }),
        }),
      )
      // Each repository's are in this order already.
      return (wanted.length < 2 ? found : found.toSorted(byImportance)).slice(0, limit)
    },
    isServed(taskId) {
      const before = known.get(taskId)
      if (before !== undefined) return before
      if (known.size >= knownMax) known.clear()
      const isServed = find(taskId) !== null
      known.set(taskId, isServed)
      return isServed
    },
    isOver(taskId) {
      const state = queue.get(taskId)?.state
      return state !== 'QUEUED' && state !== 'RUNNING'
    },
    clearHistory: () =>
      repositories.reduce((count, repository) => count + queue.clearHistory({ repository }), 0),
  }
}

/** A task that is neither queued nor running. */
export function atRest(task: TaskRecord): QueuedTask {
  return { ...task, position: null, abandoned: false }
}

/** Running first, then queued in their order, then ended, newest first. */
function byImportance(a: QueuedTask, b: QueuedTask): number {
  const byState = rank(a.state) - rank(b.state)
  if (byState !== 0) return byState
  if (rank(a.state) < 2) return compare(a.created_at, b.created_at)
  return compare(b.completed_at ?? '', a.completed_at ?? '')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
