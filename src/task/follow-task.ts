import type { TaskQueue } from '../store/queue/contract.ts'
import type { TaskEvent } from './contract.ts'
import { taskEvents } from './task-events.ts'

/**
 * Forwards every event of a task, from the first one, until the task has ended or the signal is aborted. Rejects with what the
 * listener throws.
 */
export async function followTask(
  queue: TaskQueue,
  id: string,
  onEvent: (event: TaskEvent) => void,
  { signal, untilEnded = true }: { readonly signal?: AbortSignal; readonly untilEnded?: boolean } = {},
): Promise<void> {
  let afterId = 0
  const forwardNew = (): void => {
    for (const stored of taskEvents(queue, id, afterId)) {
      afterId = stored.id
      onEvent(stored.event)
    }
  }
  const { promise: over, resolve, reject } = Promise.withResolvers<void>()
  const look = (): void => {
    try {
      const state = queue.get(id)?.state
      forwardNew()
      // A task that was removed from the queue has ended too.
      if (!untilEnded || (state !== 'QUEUED' && state !== 'RUNNING')) resolve()
    } catch (error) {
      reject(error)
    }
  }
  const unwatch = queue.watch(look)
  // Watching alone would not keep the process alive.
  const alive = setInterval(look, 1_000)
  const leave = (): void => resolve()
  signal?.addEventListener('abort', leave, { once: true })
  look()
  try {
    await over
  } finally {
    signal?.removeEventListener('abort', leave)
    clearInterval(alive)
    unwatch()
  }
}
