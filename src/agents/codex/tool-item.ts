import type { AgentEvent, Untimed } from '../../core/event.ts'
import { asArray, asInteger, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'

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

/** What a tool for subagents reports about one of them. */
function agentState(value: unknown): string {
  const state = asObject(value)
  return [state?.status, state?.message].filter((word) => typeof word === 'string').join(': ')
}

/**
 * The command inside `/bin/bash -lc '…'`, as Codex reports what it ran; the text itself when it is not wrapped like that.
 */
export function unwrapShell(command: string): string {
  const words = splitWords(command)
  if (words === null || words.length !== 3) return command
  const [program = '', flag = '', inner = ''] = words
  return /(^|\/)(ba|z|da|k)?sh$/.test(program) && /^-l?c$/.test(flag) ? inner : command
}

/** POSIX quoting without expansion; null when a quote is left open. */
function splitWords(text: string): readonly string[] | null {
  const words: string[] = []
  let word: string | null = null
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (/\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
      continue
    }
    word ??= ''
    if (char === "'") {
      const end = text.indexOf("'", at + 1)
      if (end === -1) return null
      word += text.slice(at + 1, end)
      at = end
    } else if (char === '"') {
      const quoted = readDoubleQuoted(text, at + 1)
      if (quoted === null) return null
      word += quoted.text
      at = quoted.end
    } else if (char === '\\') {
      at += 1
      word += text.charAt(at)
    } else word += char
  }
  if (word !== null) words.push(word)
  return words
}

function readDoubleQuoted(
  text: string,
  start: number,
): { readonly text: string; readonly end: number } | null {
  let inner = ''
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === '"') return { text: inner, end: at }
    if (char === '\\' && /["\\$`\n]/.test(text.charAt(at + 1))) {
      at += 1
      inner += text.charAt(at)
    } else inner += char
  }
  return null
}
