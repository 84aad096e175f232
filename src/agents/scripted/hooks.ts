import type { ToolCall } from '../../core/hook-event.ts'
import { type ToolWord, toolCall } from '../hooks/tool-action.ts'

const tools = new Map<string, ToolWord>([
  ['Bash', 'bash'],
  ['Write', 'write'],
  ['Edit', 'edit'],
  ['Read', 'read'],
])

/** A call of the scripted agent in the words of all agents; whatever else it does is judged by what its input names. */
export function scriptedToolCall(tool: string, input: unknown): ToolCall {
  return toolCall(tools, { id: null, tool, input })
}
