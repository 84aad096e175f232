import type { AgentEvent, Untimed } from '../../../core/event.ts'

/** Whether the event tells of the session itself, and not of what was said: for a message that is no prompt of anybody. */
export function tellsOfSession(event: Untimed<AgentEvent>): boolean {
  switch (event.event) {
    case 'session':
    case 'hook':
    case 'error':
      return true
    case 'usage':
      return event.input_tokens + event.output_tokens + (event.cost_usd ?? 0) > 0
    default:
      return false
  }
}
