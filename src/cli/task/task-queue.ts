import { ownProgram } from '../../io/find-program.ts'
import { startDetached } from '../../io/start-detached.ts'
import type { Store } from '../../store/contract.ts'
import type { TaskQueue } from '../../store/queue/contract.ts'
import type { CliContext } from '../context.ts'

/** Opens the queue in the store of this directory, and closes it after the work. */
export async function withTaskQueue<T>(
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

/** Whether a task waits for a worker. */
export function hasWork(queue: TaskQueue): boolean {
  return queue
    .list({ states: ['QUEUED', 'RUNNING'] })
    .some(({ state, abandoned }) => state === 'QUEUED' || abandoned)
}

/**
 * Starts a worker as a separate process, which ends when the queue is empty. Several workers are safe, because each task is
 * claimed by one. Returns false where Gantry cannot start itself, as in a library.
 */
export function startWorker({ env, cwd }: CliContext): boolean {
  const program = ownProgram()
  if (program === null) return false
  const [node = process.execPath, ...words] = program
  startDetached(node, [...process.execArgv, ...words, 'task', 'work', '--from', cwd], env)
  return true
}
