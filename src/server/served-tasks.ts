import { defined } from '../core/json-fields.ts'
import type { QueuedTask, TaskQueue, TaskRecord, TaskState } from '../store/queue/contract.ts'

export type ServedTasks = ReturnType<typeof servedTasks>

export interface ServedFilter {
  readonly state?: TaskState
  /** Whether the repository is served. */
  readonly repository?: string
  readonly limit?: number
}

const knownMax = 10_000
const rank = (state: TaskState): number => ({ RUNNING: 0, QUEUED: 1 })[state as string] ?? 2

/** The queue, limited to the repositories the server was started for; `null`: all of them. */
export function servedTasks(queue: TaskQueue, served: readonly string[] | null) {
  /** Cached, because it is needed for every event and never changes. */
  const known = new Map<string, boolean>()
  const find = (id: string): TaskRecord | null => {
    const task = queue.get(id)
    return task !== null && served?.includes(task.repository) !== false ? task : null
  }
  return {
    get repositories(): readonly string[] {
      return served ?? [...new Set(queue.list().map(({ repository }) => repository))].sort()
    },
    get(id: string): QueuedTask | null {
      const task = find(id)
      if (task === null) return null
      const open = task.state === 'QUEUED' || task.state === 'RUNNING'
      const among = open ? queue.list({ repository: task.repository, states: [task.state] }) : []
      return among.find((other) => other.id === id) ?? atRest(task)
    },
    list({ state, repository, limit }: ServedFilter): readonly QueuedTask[] {
      const filter = defined({ states: state && [state], limit })
      if (served === null) return queue.list({ ...filter, ...defined({ repository }) })
      const wanted = served.filter((one) => repository === undefined || one === repository)
      const found = wanted.flatMap((one) => queue.list({ repository: one, ...filter }))
      // The tasks of each repository are already in this order.
      return (wanted.length < 2 ? found : found.toSorted(byImportance)).slice(0, limit)
    },
    isServed(taskId: string): boolean {
      const before = known.get(taskId)
      if (before !== undefined) return before
      if (known.size >= knownMax) known.clear()
      const isServed = find(taskId) !== null
      known.set(taskId, isServed)
      return isServed
    },
    /** Whether the task has ended or is deleted. */
    isOver(taskId: string): boolean {
      const state = queue.get(taskId)?.state
      return state !== 'QUEUED' && state !== 'RUNNING'
    },
  }
}

/** A task that is neither queued nor running. */
export function atRest(task: TaskRecord): QueuedTask {
  return { ...task, position: null, abandoned: false }
}

/** Running first, then queued in order, then ended, newest first. */
function byImportance(a: QueuedTask, b: QueuedTask): number {
  const byState = rank(a.state) - rank(b.state)
  if (byState !== 0) return byState
  if (rank(a.state) < 2) return compare(a.created_at, b.created_at)
  return compare(b.completed_at ?? '', a.completed_at ?? '')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
