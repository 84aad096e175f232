import { GantryError } from '../../core/error.ts'
import { ownProgram } from '../../io/find-program.ts'
import { startDetached } from '../../io/start-detached.ts'
import type { Store } from '../../store/contract.ts'
import type { QueuedTask, TaskQueue } from '../../store/queue/contract.ts'
import type { CliContext } from '../context.ts'

/** Opens the queue in the store that this directory uses, and closes it after the work. */
export async function withQueue<T>(
  context: CliContext,
  work: (queue: TaskQueue, store: Store) => T | Promise<T>,
): Promise<T> {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { openQueue } = await import('../../store/queue/open-queue.ts')
  const store = openProjectStore(context)
  const queue = openQueue(store)
  try {
    return await work(queue, store)
  } finally {
    queue.close()
  }
}

/** Finds a task by its id, a part of the id that no other task has, its position in the queue, or `latest`. */
export function findTask(queue: TaskQueue, name: string): QueuedTask {
  const matches = matchingTasks(name, queue.list())
  const [task, ...more] = matches
  if (task !== undefined && more.length === 0) return task
  if (task === undefined)
    throw new GantryError('NOT_FOUND', `there is no task ${name}`, {
      hint: 'List the tasks with gantry task list.',
    })
  const ids = matches.slice(0, 5).map(({ id }) => id)
  throw new GantryError('USAGE', `${name} matches ${matches.length} tasks: ${ids.join(', ')}`, {
    hint: 'Write more of the id.',
  })
}

function matchingTasks(name: string, tasks: readonly QueuedTask[]): readonly QueuedTask[] {
  if (name === 'latest') return tasks.toSorted(newestFirst).slice(0, 1)
  if (/^\d{1,5}$/.test(name)) return tasks.filter(({ position }) => position === Number(name))
  const exact = tasks.filter(({ id }) => id === name)
  return exact.length > 0 || name === '' ? exact : tasks.filter(({ id }) => id.includes(name))
}

function newestFirst(a: QueuedTask, b: QueuedTask): number {
  return a.created_at < b.created_at ? 1 : -1
}

/** Whether a task waits for a worker. */
export function hasWork(queue: TaskQueue): boolean {
  const tasks = queue.list({ states: ['QUEUED', 'RUNNING'] })
  const busy = new Set(
    tasks
      .filter(({ state, abandoned }) => state === 'RUNNING' && !abandoned)
      .map(({ repository }) => repository),
  )
  return tasks.some(({ repository }) => !busy.has(repository))
}

/**
 * Starts a worker as a process of its own. It ends when the queue is empty. Several at once do no harm: each task is claimed by
 * one. Returns false where Gantry is not a program that could be started, as in a library.
 */
export function startWorker({ env, cwd }: CliContext): boolean {
  const program = ownProgram()
  if (program === null) return false
  const [node = process.execPath, ...words] = program
  startDetached(node, [...process.execArgv, ...words, 'task', 'work', '--from', cwd], env)
  return true
}
