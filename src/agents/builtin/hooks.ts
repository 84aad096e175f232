import type { ToolCall } from '../../core/hook-event.ts'
import { toolCall, toolPurposes } from '../hooks/tool-action.ts'

const tools = toolPurposes({ bash: 'run', write: 'write', edit: 'edit', read: 'read list search' })

/** A call of the builtin agent in agent-independent form; its calls have no ids. */
export function builtinToolCall(tool: string, input: unknown): ToolCall {
  return toolCall(tools, { id: null, tool, input })
}
