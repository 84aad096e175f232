import { asArray, asObject, type Json } from '../json-fields.ts'

/** Watches which subagents still work in the background: their end starts another turn, which belongs to the same prompt. */
export interface BackgroundAgents {
  see(message: Json): void
  isBusy(): boolean
}

export function createBackgroundAgents(): BackgroundAgents {
  const running = new Set<unknown>()
  return {
    see(message) {
      if (message.type !== 'system') return
      switch (message.subtype) {
        case 'task_started':
          if (message.task_type === 'local_agent' && message.is_backgrounded !== false)
            running.add(message.task_id)
          break
        case 'task_notification':
          running.delete(message.task_id)
          break
        case 'background_tasks_changed': {
          const listed = asArray(message.tasks).map((task) => asObject(task)?.task_id)
          for (const id of running) if (!listed.includes(id)) running.delete(id)
          break
        }
      }
    },
    isBusy: () => running.size > 0,
  }
}
