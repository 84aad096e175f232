import type { ClaimedTask, TaskEndRecord, TaskQueue, TaskRecord } from '../../store/queue/contract.ts'

export interface QueueListener {
  begun(claimed: ClaimedTask): void
  ended(task: TaskRecord): void
  /** Without an end: the next worker takes it up. */
  left(taskId: string): void
}

/** The same queue, which tells what is begun and ended by way of it, and nothing of what other workers do. */
export function toldQueue(queue: TaskQueue, { begun, ended, left }: QueueListener): TaskQueue {
  return {
    ...queue,
    claim: (options) => {
      const claimed = queue.claim(options)
      if (claimed !== null) begun(claimed)
      return claimed
    },
    end: (id: string, end: TaskEndRecord) => {
      const task = queue.end(id, end)
      ended(task)
      return task
    },
    release: (id) => {
      queue.release(id)
      left(id)
    },
  }
}
