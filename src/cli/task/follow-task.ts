import type { TaskQueue } from '../../store/queue/contract.ts'
import type { TaskEvent } from '../../task/contract.ts'
import { taskEvents } from '../../task/task-events.ts'

/** Passes on every event of a task, from its first one, until the task has ended or the signal is aborted. */
export async function followTask(
  queue: TaskQueue,
  id: string,
  tell: (event: TaskEvent) => void,
  { signal, untilEnded = true }: { readonly signal?: AbortSignal; readonly untilEnded?: boolean } = {},
): Promise<void> {
  let afterId = 0
  const tellNew = (): void => {
    for (const told of taskEvents(queue, id, afterId)) {
      afterId = told.id
      tell(told.event)
    }
  }
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const look = (): void => {
    const state = queue.get(id)?.state
    tellNew()
    // One that was removed from the queue has ended, too.
    if (!untilEnded || (state !== 'QUEUED' && state !== 'RUNNING')) resolve()
  }
  const unwatch = queue.watch(look)
  // Watching alone would not keep the process alive.
  const alive = setInterval(look, 1_000)
  const leave = (): void => resolve()
  signal?.addEventListener('abort', leave, { once: true })
  look()
  await over
  signal?.removeEventListener('abort', leave)
  clearInterval(alive)
  unwatch()
}
