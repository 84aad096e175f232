import type { CallMessage, ModelCall } from '../../contract.ts'
import { callKind } from '../call-kind.ts'
import type { WireRoute } from '../contract.ts'
import { asCount, asJson, asList, asText, isJson, type Json } from '../json.ts'

export function readCall(body: unknown, route: WireRoute): ModelCall {
  const request = asJson(body)
  const messages = asList(request.messages).filter(isJson).map(readMessage)
  // Claude Code puts system messages into the middle of a conversation.
  const told = messages.filter(({ role }) => role === 'system').map(({ text }) => text)
  const facts = {
    system: [textOf(request.system), ...told].filter((text) => text !== '').join('\n'),
    messages,
    tools: asList(request.tools).flatMap((tool) => asText(asJson(tool).name) ?? []),
  }
  return {
    api: 'anthropic',
    kind: callKind(route, facts),
    model: asText(request.model) ?? '',
    stream: request.stream === true,
    ...facts,
    maxOutputTokens: asCount(request.max_tokens) ?? null,
  }
}

function readMessage({ role, content }: Json): CallMessage {
  const blocks = asList(content).filter(isJson)
  return {
    role: role === 'assistant' || role === 'system' ? role : 'user',
    text: textOf(content),
    toolCalls: blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: asText(id) ?? null, name: asText(name) ?? '', input })),
    toolResults: blocks
      .filter(({ type }) => type === 'tool_result')
      .map((block) => ({
        id: asText(block.tool_use_id) ?? null,
        text: textOf(block.content),
        isError: block.is_error === true,
      })),
  }
}

/** Content is a text or a list of blocks, of which those of text are meant. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return asList(content)
    .flatMap((block) => {
      const { type, text } = asJson(block)
      return type === 'text' && typeof text === 'string' ? [text] : []
    })
    .join('\n')
}
