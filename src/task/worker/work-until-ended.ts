import { GantryError } from '../../core/error.ts'
import type { TaskQueue, TaskRecord } from '../../store/queue/contract.ts'
import type { TaskEvent } from '../contract.ts'
import { followTask } from '../follow-task.ts'
import type { WorkerContext } from './do-task.ts'
import { workOnQueue } from './work-on-queue.ts'

export interface TaskFollower {
  /** Cancels the task, also when it is aborted already. */
  readonly signal: AbortSignal
  readonly onEvent: (event: TaskEvent) => void
}

/**
 * Works on the queue of a task's repository until the task has ended, here or in another process. Returns null for a task that was
 * removed from the queue.
 */
export async function workUntilEnded(
  { id, repository }: Pick<TaskRecord, 'id' | 'repository'>,
  context: WorkerContext,
  { signal, onEvent }: TaskFollower,
): Promise<TaskRecord | null> {
  const { queue } = context
  // The task is cancelled through the queue, so that it also ends cleanly when another process works on it.
  const cancel = (): void => cancelUnlessEnded(queue, id)
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  const stop = new AbortController()
  // A failed worker emits no more events; without the abort, following the task would never end.
  const working = workOnQueue({ repository, until: { task: id }, signal: stop.signal }, context).catch(
    (error: unknown) => {
      stop.abort()
      throw error
    },
  )
  const following = followTask(queue, id, onEvent, { signal: stop.signal }).then(
    () => stop.abort(),
    (error: unknown) => {
      cancel()
      throw error
    },
  )
  const [worked, followed] = await Promise.allSettled([working, following])
  signal.removeEventListener('abort', cancel)
  if (worked.status === 'rejected') throw worked.reason
  if (followed.status === 'rejected') throw followed.reason
  return queue.get(id)
}

/** It may have ended in the meantime. */
function cancelUnlessEnded(queue: TaskQueue, id: string): void {
  try {
    queue.cancel(id)
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
  }
}
