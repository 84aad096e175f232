import type { AgentEvent, Untimed } from '../../../core/event.ts'
import { asObject, type JsonObject } from '../../../core/json-fields.ts'

/** Counts the answers of the main model to one prompt. */
export interface TurnCounter {
  see(event: Untimed<AgentEvent>): void
  hear(line: JsonObject): void
  count(): number
  /** It has gone on, or is about to go on, past its limit. */
  isPassed(): boolean
}

/** An agent at its limit that has the results of all its tools would ask its model again: there it is over. */
export function createTurnCounter(maxTurns = Number.POSITIVE_INFINITY): TurnCounter {
  const turns = new Set<unknown>()
  const open = new Set<unknown>()
  let isGoingOn = false
  return {
    see(event) {
      if (event.event === 'tool_call' && event.parent_id === undefined) open.add(event.id)
      if (event.event !== 'tool_result' || event.parent_id !== undefined || !open.delete(event.id)) return
      isGoingOn = open.size === 0 && turns.size >= maxTurns
    },
    hear(line) {
      const message = asObject(line.message)
      // Under this model it speaks in its own name, e.g. to tell of an API error.
      if (line.type !== 'assistant' || message?.model === '<synthetic>') return
      if (line.parent_tool_use_id === undefined || line.parent_tool_use_id === null) turns.add(message?.id)
    },
    count: () => turns.size,
    isPassed: () => isGoingOn || turns.size > maxTurns,
  }
}
