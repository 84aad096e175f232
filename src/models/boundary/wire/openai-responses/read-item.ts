import { asArray, type JsonObject } from '../../../../core/json-fields.ts'
import type { CallMessage } from '../../contract.ts'
import { asJson } from '../json.ts'
import { joinedText, nonEmptyText, readArguments, textOf } from '../openai/words.ts'
import { joinName, toolNames } from './tool-name.ts'

type ToolCall = CallMessage['toolCalls'][number]
type ToolResult = CallMessage['toolResults'][number]

/** An item of the conversation. The API has more kinds than these; none of the others counts as a message. */
export type ReadItem =
  | { readonly kind: 'system'; readonly text: string }
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly call: ToolCall }
  | { readonly kind: 'tool_result'; readonly result: ToolResult }
  | { readonly kind: 'other' }

export function readItem(value: unknown): ReadItem {
  const item = asJson(value)
  const type = textOf(item.type)
  if (type === 'message' || (type === '' && typeof item.role === 'string')) {
    return { kind: speaker(item.role), text: joinedText(item.content) }
  }
  if (type === 'agent_message') return { kind: 'user', text: agentText(item.content) }
  if (type === 'reasoning') return { kind: 'thinking', text: thoughts(item) }
  if (type.endsWith('_call')) return { kind: 'tool_call', call: readCallItem(type, item) }
  return type.endsWith('_output') ? { kind: 'tool_result', result: readOutput(item) } : { kind: 'other' }
}

function speaker(role: unknown): 'system' | 'user' | 'assistant' {
  if (role === 'system' || role === 'developer') return 'system'
  return role === 'assistant' ? 'assistant' : 'user'
}

/** A message between Codex agents: the last part has it as plain text in a field for encrypted content. */
function agentText(content: unknown): string {
  return joinedText(
    asArray(content).map((part) => {
      const { text, encrypted_content: hidden } = asJson(part)
      return { text: text ?? hidden }
    }),
  )
}

/** The raw thinking if the model shows it, otherwise its summary. */
function thoughts(item: JsonObject): string {
  return plainText(item.content) || plainText(item.summary)
}

function plainText(parts: unknown): string {
  return Array.isArray(parts) ? parts.map((part) => textOf(asJson(part).text)).join('') : ''
}

function readCallItem(type: string, item: JsonObject): ToolCall {
  const id = nonEmptyText(item.call_id) ?? nonEmptyText(item.id)
  if (type === 'custom_tool_call') return { id, name: joinName(item), input: textOf(item.input) }
  const name = type === 'function_call' ? joinName(item) : type.slice(0, -'_call'.length)
  return { id, name, input: readArguments(item.arguments ?? item.action) }
}

function readOutput(item: JsonObject): ToolResult {
  const nested = asJson(item.output)
  return {
    id: nonEmptyText(item.call_id) ?? nonEmptyText(item.id),
    text: joinedText(item.output) || joinedText(nested.content) || toolNames(item.tools).join('\n'),
    isError: nested.success === false || item.status === 'failed',
  }
}
