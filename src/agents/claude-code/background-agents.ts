import { asArray, asObject, asString, type JsonObject } from '../../core/json-fields.ts'

/** Tracks which subagents still run in the background: their end starts another turn, which belongs to the same prompt. */
export function createBackgroundAgents() {
  const running = new Map<string, { readonly isAgent: boolean }>()
  return {
    see(message: JsonObject): void {
      if (message.type !== 'system') return
      const id = asString(message.task_id) ?? ''
      switch (message.subtype) {
        case 'task_started':
          if (message.is_backgrounded !== false)
            running.set(id, { isAgent: message.task_type === 'local_agent' })
          break
        case 'task_notification':
          running.delete(id)
          break
        case 'background_tasks_changed': {
          const listed = asArray(message.tasks).map((task) => asObject(task)?.task_id)
          for (const known of running.keys()) if (!listed.includes(known)) running.delete(known)
          break
        }
      }
    },
    isBusy: () => [...running.values()].some(({ isAgent }) => isAgent),
    /** Ids of everything that runs in the background, including commands. */
    tasks: (): readonly string[] => [...running.keys()],
  }
}
