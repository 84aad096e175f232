import type { GantryEvent } from '../../core/event.ts'
import { createStepList, type StepList } from './step-list.ts'

/** The steps of the main agent, and of each subagent by the call that started it. */
export interface AgentLists {
  readonly main: StepList
  readonly subagents: ReadonlyMap<string, StepList>
}

/** `prompt` opens the conversation; null when the events contain it. */
export function agentLists(
  events: readonly GantryEvent[],
  prompt: { readonly ts: number; readonly text: string } | null,
): AgentLists {
  const main = createStepList()
  const subagents = new Map<string, StepList>()
  const listOf = (parent: string | undefined): StepList => {
    if (parent === undefined) return main
    const list = subagents.get(parent) ?? createStepList()
    subagents.set(parent, list)
    return list
  }
  // A usage event does not name its message: it follows the message it belongs to.
  let speaking = main
  if (prompt !== null) main.message({ event: 'message', role: 'user', ...prompt })
  for (const event of events) {
    switch (event.event) {
      case 'message':
        speaking = listOf(event.parent_id)
        speaking.message(event)
        break
      case 'tool_call':
        speaking = listOf(event.parent_id)
        speaking.call(event)
        break
      case 'tool_result':
        listOf(event.parent_id).result(event)
        break
      case 'usage':
        speaking.usage(event)
        break
      case 'hook': {
        const { ts, event: kind, ...rest } = event
        main.note(ts, `The hook ${event.hook} ran.`, { kind, ...rest })
        break
      }
      case 'error':
        main.note(event.ts, event.message, { kind: event.event, reason: event.reason })
        break
      default:
        break
    }
  }
  return { main, subagents }
}
