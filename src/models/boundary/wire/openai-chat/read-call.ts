import { asArray, type JsonObject } from '../../../../core/json-fields.ts'
import type { CallMessage, ModelCall } from '../../contract.ts'
import { callKind } from '../call-kind.ts'
import type { WireRoute } from '../contract.ts'
import { asCount, asJson } from '../json.ts'
import { joinedText, nonEmptyText, readArguments, textOf } from '../openai/words.ts'

export function readCall(body: unknown, route: WireRoute): ModelCall {
  const request = asJson(body)
  const messages = asArray(request.messages).map(asJson)
  const read = {
    api: 'openai-chat',
    model: textOf(request.model),
    stream: request.stream === true,
    system: messages
      .filter(isSystem)
      .map((message) => joinedText(message.content))
      .join('\n'),
    messages: messages.slice(leading(messages)).map(readMessage),
    tools: [...asArray(request.tools).map(toolName), ...asArray(request.functions).map(nameOf)].filter(
      (name) => name !== null,
    ),
    maxOutputTokens: asCount(request.max_completion_tokens) ?? asCount(request.max_tokens) ?? null,
  } as const
  return { ...read, kind: callKind(route, read) }
}

/** System messages at the start are the system prompt; later ones also stay in their position. */
function leading(messages: readonly JsonObject[]): number {
  const first = messages.findIndex((message) => !isSystem(message))
  return first === -1 ? messages.length : first
}

function isSystem(message: JsonObject): boolean {
  return message.role === 'system' || message.role === 'developer'
}

function readMessage(message: JsonObject): CallMessage {
  const text = joinedText(message.content)
  if (message.role === 'tool' || message.role === 'function') {
    const id = nonEmptyText(message.tool_call_id)
    return { role: 'tool', text: '', toolCalls: [], toolResults: [{ id, text, isError: false }] }
  }
  if (isSystem(message)) return { role: 'system', text, toolCalls: [], toolResults: [] }
  if (message.role !== 'assistant') return { role: 'user', text, toolCalls: [], toolResults: [] }
  return { role: 'assistant', text, toolCalls: readToolCalls(message), toolResults: [] }
}

/** The calls of a message, in a request or in an answer: of functions, of free-form tools, and the legacy function call. */
export function readToolCalls(message: JsonObject): CallMessage['toolCalls'] {
  const calls = asArray(message.tool_calls).map((item) => {
    const call = asJson(item)
    const custom = asJson(call.custom)
    const id = nonEmptyText(call.id)
    return typeof custom.name === 'string'
      ? { id, name: custom.name, input: textOf(custom.input) }
      : { id, ...readFunction(asJson(call.function)) }
  })
  const old = asJson(message.function_call)
  return typeof old.name === 'string' ? [...calls, { id: null, ...readFunction(old) }] : calls
}

function readFunction(called: JsonObject): { name: string; input: unknown } {
  return { name: textOf(called.name), input: readArguments(called.arguments) }
}

function toolName(tool: unknown): string | null {
  const fields = asJson(tool)
  return nameOf(fields.function) ?? nameOf(fields.custom) ?? nameOf(tool) ?? nonEmptyText(fields.type)
}

function nameOf(value: unknown): string | null {
  return nonEmptyText(asJson(value).name)
}
