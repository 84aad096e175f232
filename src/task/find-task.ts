import { GantryError } from '../core/error.ts'
import type { QueuedTask, TaskQueue } from '../store/queue/contract.ts'

/** Finds a task by its id, a unique part of the id, its position in the queue, or `latest`. */
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
  if (name === 'latest') return tasks.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)).slice(0, 1)
  if (/^\d{1,5}$/.test(name)) return tasks.filter(({ position }) => position === Number(name))
  const exact = tasks.filter(({ id }) => id === name)
  return exact.length > 0 || name === '' ? exact : tasks.filter(({ id }) => id.includes(name))
}
