import { GantryError } from '../core/error.ts'
import type { QueuedTask, TaskQueue } from '../store/queue/contract.ts'
import { findRepository } from '../verifier/find-repository.ts'

/** Finds a task by its id, a unique part of the id, its position in the queue, or `latest`: the newest of the repository around `cwd`. */
export function findTask(queue: Pick<TaskQueue, 'list'>, name: string, cwd: string): QueuedTask {
  if (name === 'latest') return newestOf(findRepository(cwd), queue)
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

/** Never a task of another repository: what is done with it may write there. */
function newestOf(repository: string, queue: Pick<TaskQueue, 'list'>): QueuedTask {
  const tasks = queue.list().toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
  const task = tasks.find((one) => one.repository === repository)
  if (task !== undefined) return task
  const [other] = tasks
  throw new GantryError('NOT_FOUND', `there is no task of ${repository}`, {
    hint:
      other === undefined
        ? 'Start one with gantry task run.'
        : `Name a task by its id. The newest of all is ${other.id}, of ${other.repository}.`,
  })
}

function matchingTasks(name: string, tasks: readonly QueuedTask[]): readonly QueuedTask[] {
  if (/^\d{1,5}$/.test(name)) return tasks.filter(({ position }) => position === Number(name))
  const exact = tasks.filter(({ id }) => id === name)
  return exact.length > 0 || name === '' ? exact : tasks.filter(({ id }) => id.includes(name))
}
