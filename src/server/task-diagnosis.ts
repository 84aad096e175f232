import { setImmediate as turn } from 'node:timers/promises'
import type { z } from 'zod'
import type { TaskQueue, TaskRecord } from '../store/queue/contract.ts'
import type { TaskEvent } from '../task/contract.ts'
import type { diagnosisSchema } from './api-schemas.ts'

export type TaskDiagnosis = z.output<typeof diagnosisSchema>

const page = 500

/** Computed from all events of a task. Yields to other work after each page, because there may be many. */
export async function taskDiagnosis(
  queue: TaskQueue,
  { id, error_message }: TaskRecord,
): Promise<TaskDiagnosis> {
  const attempts = new Map<number, TaskDiagnosis['attempts'][number]>()
  const replans = new Map<number, string>()
  const fold = (event: TaskEvent): void => {
    if (event.kind === 'verifier_result') {
      const { attempt, run_id, status, failure } = event
      attempts.set(attempt, { attempt, run_id, status, failure, diagnosis: null })
    } else if (event.kind === 'diagnosis') {
      const before = attempts.get(event.attempt)
      if (before !== undefined) attempts.set(event.attempt, { ...before, diagnosis: event.text })
    } else if (event.kind === 'replan') replans.set(event.attempt, event.strategy)
  }
  for (let afterId = 0; ; ) {
    const events = queue.events({ afterId, taskId: id, limit: page })
    for (const { event } of events) fold(event as unknown as TaskEvent)
    afterId = events.at(-1)?.id ?? afterId
    if (events.length < page) break
    await turn()
  }
  return {
    task_id: id,
    attempts: [...attempts.values()].toSorted((a, b) => a.attempt - b.attempt),
    replans: [...replans].map(([attempt, strategy]) => ({ attempt, strategy })),
    error_message,
  }
}
