import { openProjectStore } from '../../config/open-project-store.ts'
import type { Store } from '../../store/contract.ts'
import type { TaskQueue } from '../../store/queue/contract.ts'
import { openQueue } from '../../store/queue/open-queue.ts'
import type { CliContext } from '../context.ts'

/** The queue of the store that this place uses, for one piece of work. */
export async function withQueue<T>(
  context: CliContext,
  work: (queue: TaskQueue, store: Store) => T | Promise<T>,
): Promise<T> {
  const store = openProjectStore(context)
  const queue = openQueue(store)
  try {
    return await work(queue, store)
  } finally {
    queue.close()
  }
}
