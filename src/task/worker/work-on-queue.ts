import type { TaskQueue } from '../../store/queue/contract.ts'
import { shutdown } from '../task-request.ts'
import { doTask, type WorkerContext } from './do-task.ts'

export interface QueueWorkOptions {
  /** Only tasks of this repository. */
  readonly repository?: string
  /** `empty`: until no task can start now. `stopped`: until the signal is aborted. */
  readonly until: 'empty' | 'stopped' | { readonly task: string }
  /** Aborted to stop the worker. The next worker resumes its task. */
  readonly signal: AbortSignal
}

/** Runs the tasks of a queue one after the other. Any process can cancel them. */
export async function workOnQueue(options: QueueWorkOptions, context: WorkerContext): Promise<void> {
  const { until, signal, repository } = options
  const { queue } = context
  const claim = repository === undefined ? {} : { repository }
  while (!signal.aborted) {
    if (typeof until === 'object' && hasEnded(queue, until.task)) return
    const claimed = queue.claim(claim)
    if (claimed !== null) {
      await withCancellation(queue, claimed.task.id, signal, (stop) => doTask(claimed, context, stop))
    } else if (until === 'empty') return
    else await change(queue, signal)
  }
}

function hasEnded(queue: TaskQueue, id: string): boolean {
  const state = queue.get(id)?.state
  return state !== 'QUEUED' && state !== 'RUNNING'
}

async function withCancellation(
  queue: TaskQueue,
  id: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const look = (): void => {
    if (queue.cancelRequested(id)) stop.abort()
  }
  const go = (): void => stop.abort(shutdown)
  const unwatch = queue.watch(look)
  signal.addEventListener('abort', go)
  if (signal.aborted) go()
  look()
  try {
    await work(stop.signal)
  } finally {
    signal.removeEventListener('abort', go)
    unwatch()
  }
}

const lookAgainMs = 1_000

/** Waits for a change in the queue or a short time, because the death of a worker changes nothing there. */
async function change(queue: TaskQueue, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = (): void => resolve()
  const unwatch = queue.watch(done)
  const timer = setTimeout(done, lookAgainMs)
  signal.addEventListener('abort', done, { once: true })
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', done)
  unwatch()
}
