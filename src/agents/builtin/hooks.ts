import type { ToolCall } from '../../core/hook-event.ts'
import { type ToolWord, toolCall } from '../hooks/tool-action.ts'

const tools = new Map<string, ToolWord>([
  ['run', 'bash'],
  ['write', 'write'],
  ['edit', 'edit'],
  ['read', 'read'],
  ['list', 'read'],
  ['search', 'read'],
])

/** A call of the builtin agent in the words of all agents; it gives its calls no ids. */
export function builtinToolCall(tool: string, input: unknown): ToolCall {
  return toolCall(tools, { id: null, tool, input })
}
