import type { GantryEvent, ToolCallEvent, ToolResultEvent } from '../core/event.ts'
import { defined } from '../core/json-fields.ts'
import type { ToolUse } from './contract.ts'

/**
 * Joins tool calls with their results as the events arrive. Ids decide where both sides have one; otherwise a result
 * belongs to the oldest open call of the same agent or subagent. A call without a result stays, with no output; a result without a
 * call becomes a use of the tool `unknown`. When two results carry the same id, the later one completes the earlier.
 */
export function foldToolUses() {
  const uses: ToolUse[] = []
  const byId = new Map<string, number>()
  const open = new Map<number, ToolCallEvent>()

  function addCall(call: ToolCallEvent): void {
    const index = uses.push(useOf(call)) - 1
    open.set(index, call)
    if (call.id !== undefined) byId.set(call.id, index)
  }

  function addResult(result: ToolResultEvent): void {
    const index = (result.id === undefined ? undefined : byId.get(result.id)) ?? oldestOpen(open, result)
    if (index !== undefined) {
      open.delete(index)
      const use = uses[index]
      if (use !== undefined) uses[index] = answered(use, result)
      return
    }
    const added = uses.push(answered({ tool: 'unknown', ts: result.ts }, result)) - 1
    if (result.id !== undefined) byId.set(result.id, added)
  }

  return {
    add: (event: GantryEvent): void => {
      if (event.event === 'tool_call') addCall(event)
      else if (event.event === 'tool_result') addResult(event)
    },
    /** Every use so far, in the order of the calls. May be called more than once. */
    finish: (): readonly ToolUse[] => [...uses],
  }
}

/** Different ids on both sides prove that the two do not belong together. */
function oldestOpen(open: ReadonlyMap<number, ToolCallEvent>, result: ToolResultEvent): number | undefined {
  for (const [index, call] of open) {
    const mayMatch = call.id === undefined || result.id === undefined
    if (mayMatch && call.parent_id === result.parent_id) return index
  }
  return undefined
}

function useOf({ tool, command, input, ts }: ToolCallEvent): ToolUse {
  return defined({ tool, ts, command, input })
}

function answered(use: ToolUse, { output, exit_code, is_error }: ToolResultEvent): ToolUse {
  return { ...use, ...defined({ output, exitCode: exit_code, isError: is_error }) }
}
