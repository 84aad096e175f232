import type { ToolCall } from '../../core/hook-event.ts'
import { toolCall, toolPurposes } from '../hooks/tool-action.ts'

const tools = toolPurposes({ bash: 'Bash', write: 'Write', edit: 'Edit', read: 'Read' })

/** A call of the scripted agent in agent-independent form; any other tool is judged by what its input names. */
export function scriptedToolCall(tool: string, input: unknown): ToolCall {
  return toolCall(tools, { id: null, tool, input })
}
