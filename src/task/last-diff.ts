import type { TaskQueue } from '../store/queue/contract.ts'
import { taskEvents } from './task-events.ts'

/** What a task has changed so far, as it was told after its last edit; null before the first one. */
export function lastDiff(queue: Pick<TaskQueue, 'events'>, taskId: string): string | null {
  let text: string | null = null
  for (const { event } of taskEvents(queue, taskId)) if (event.kind === 'diff') text = event.text
  return text
}
