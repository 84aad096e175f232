import { GantryError } from '../../core/error.ts'
import type { QueuedTask, TaskQueue } from '../../store/queue/contract.ts'

/** The task a person means: by its id or a part of it that no other has, by its position in the queue, or the newest as `latest`. */
export function findTask(queue: TaskQueue, name: string): QueuedTask {
  const tasks = queue.list()
  const meant = namedBy(name, tasks)
  const [task, ...more] = meant
  if (task !== undefined && more.length === 0) return task
  if (task === undefined)
    throw new GantryError('NOT_FOUND', `there is no task ${name}`, {
      hint: 'See them with gantry task list.',
    })
  throw new GantryError(
    'USAGE',
    `${name} can mean ${meant.length} tasks: ${meant
      .map(({ id }) => id)
      .slice(0, 5)
      .join(', ')}`,
    {
      hint: 'Write more of the id.',
    },
  )
}

function namedBy(name: string, tasks: readonly QueuedTask[]): readonly QueuedTask[] {
  if (name === 'latest') return tasks.toSorted(newestFirst).slice(0, 1)
  if (/^\d{1,5}$/.test(name)) return tasks.filter(({ position }) => position === Number(name))
  const exact = tasks.filter(({ id }) => id === name)
  return exact.length > 0 || name === '' ? exact : tasks.filter(({ id }) => id.includes(name))
}

function newestFirst(a: QueuedTask, b: QueuedTask): number {
  return a.created_at < b.created_at ? 1 : -1
}
