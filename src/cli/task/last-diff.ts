import type { TaskQueue } from '../../store/queue/contract.ts'

const page = 1_000

/** What a task has changed so far, as it was told after its last edit; null before the first one. */
export function lastDiff(queue: TaskQueue, taskId: string): string | null {
  let text: string | null = null
  for (let afterId = 0; ; ) {
    const events = queue.events({ afterId, taskId, limit: page })
    for (const { event } of events)
      if (event.kind === 'diff' && typeof event.text === 'string') text = event.text
    afterId = events.at(-1)?.id ?? afterId
    if (events.length < page) return text
  }
}
