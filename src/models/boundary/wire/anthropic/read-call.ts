import { asArray, asString, isObject, type JsonObject } from '../../../../core/json-fields.ts'
import type { CallMessage, ModelCall } from '../../contract.ts'
import { callKind } from '../call-kind.ts'
import type { WireRoute } from '../contract.ts'
import { asCount, asJson } from '../json.ts'

export function readCall(body: unknown, route: WireRoute): ModelCall {
  const request = asJson(body)
  const messages = asArray(request.messages).filter(isObject).map(readMessage)
  // Claude Code puts system messages into the middle of a conversation.
  const told = messages.filter(({ role }) => role === 'system').map(({ text }) => text)
  const facts = {
    system: [textOf(request.system), ...told].filter((text) => text !== '').join('\n'),
    messages,
    tools: asArray(request.tools).flatMap((tool) => asString(asJson(tool).name) ?? []),
  }
  return {
    api: 'anthropic',
    kind: callKind(route, facts),
    model: asString(request.model) ?? '',
    stream: request.stream === true,
    ...facts,
    maxOutputTokens: asCount(request.max_tokens) ?? null,
  }
}

function readMessage({ role, content }: JsonObject): CallMessage {
  const blocks = asArray(content).filter(isObject)
  return {
    role: role === 'assistant' || role === 'system' ? role : 'user',
    text: textOf(content),
    toolCalls: blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: asString(id) ?? null, name: asString(name) ?? '', input })),
    toolResults: blocks
      .filter(({ type }) => type === 'tool_result')
      .map((block) => ({
        id: asString(block.tool_use_id) ?? null,
        text: textOf(block.content),
        isError: block.is_error === true,
      })),
  }
}

/** Content is a text or a list of blocks, of which those of text are meant. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return asArray(content)
    .flatMap((block) => {
      const { type, text } = asJson(block)
      return type === 'text' && typeof text === 'string' ? [text] : []
    })
    .join('\n')
}
