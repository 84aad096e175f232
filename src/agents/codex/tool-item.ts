import type { AgentEvent, Untimed } from '../../core/event.ts'
import { asArray, asInteger, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'
import { unwrapShell } from './unwrap-shell.ts'

const toolTypes: readonly unknown[] = [
  'command_execution',
  'file_change',
  'mcp_tool_call',
  'web_search',
  'collab_tool_call',
]

/** Is this item something the agent did, as opposed to something it said? */
export function isTool(item: JsonObject): boolean {
  return toolTypes.includes(item.type)
}

export function toolCall(item: JsonObject): Untimed<AgentEvent> {
  const command = asString(item.command)
  return defined({
    event: 'tool_call' as const,
    id: asString(item.id),
    tool: toolName(item),
    command: command === undefined ? undefined : unwrapShell(command),
    input: inputOf(item),
  })
}

export function toolResult(item: JsonObject): Untimed<AgentEvent> {
  const exit_code = asInteger(item.exit_code)
  const failed = item.status === 'failed' || item.status === 'declined' || asObject(item.error) !== null
  return defined({
    event: 'tool_result' as const,
    id: asString(item.id),
    output: outputOf(item),
    exit_code,
    is_error: failed || (exit_code !== undefined && exit_code !== 0),
  })
}

function toolName(item: JsonObject): string {
  const server = asString(item.server)
  const tool = asString(item.tool)
  if (tool === undefined) return asString(item.type) ?? 'unknown'
  return server === undefined ? tool : `${server}.${tool}`
}

function inputOf(item: JsonObject): unknown {
  switch (item.type) {
    case 'command_execution':
      return { command: item.command }
    case 'file_change':
      return { path: asString(asObject(asArray(item.changes)[0])?.path), changes: item.changes }
    case 'mcp_tool_call':
      return item.arguments
    default: {
      const { id, type, status, ...rest } = item
      return rest
    }
  }
}

function outputOf(item: JsonObject): string {
  const output = asString(item.aggregated_output)
  if (output !== undefined) return output
  const error = asString(asObject(item.error)?.message)
  if (error !== undefined) return error
  const agents = asObject(item.agents_states)
  if (agents !== null) return Object.values(agents).map(agentState).join('\n')
  const content = asArray(asObject(item.result)?.content)
  return content.map((part) => asString(asObject(part)?.text) ?? JSON.stringify(part)).join('\n')
}

/** What a tool for subagents tells of one of them. */
function agentState(value: unknown): string {
  const state = asObject(value)
  return [state?.status, state?.message].filter((word) => typeof word === 'string').join(': ')
}
