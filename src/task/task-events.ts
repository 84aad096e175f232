import { defined } from '../core/json-fields.ts'
import type { EventLevel, TaskQueue, TaskRecord } from '../store/queue/contract.ts'
import type { TaskEvent } from './contract.ts'

const page = 1_000

/** All events of a task after the given one, in order. */
export function* taskEvents(queue: Pick<TaskQueue, 'events'>, taskId: string, after = 0, level?: EventLevel) {
  for (let afterId = after; ; ) {
    const events = queue.events({ afterId, taskId, limit: page, ...defined({ level }) })
    for (const { id, event } of events) yield { id, event: event as unknown as TaskEvent }
    afterId = events.at(-1)?.id ?? afterId
    if (events.length < page) return
  }
}

/** The question of the Editor whose answer a running task waits for; null when there is none. */
export function openQuestion(queue: Pick<TaskQueue, 'events'>, { id, state }: TaskRecord): string | null {
  if (state !== 'RUNNING') return null
  let text: string | null = null
  // A task that waits has no other events.
  for (const { event } of taskEvents(queue, id)) text = event.kind === 'question' ? event.text : null
  return text
}

/** The diff after the task's last edit, or after the last one before a verification; null when there is none. */
export function lastDiff(queue: Pick<TaskQueue, 'events'>, taskId: string, attempt?: number): string | null {
  let text: string | null = null
  for (const { event } of taskEvents(queue, taskId)) {
    if (event.kind === 'diff') text = event.text
    if (event.kind === 'verifier_result' && event.attempt === attempt) return text
  }
  return attempt === undefined ? text : null
}
