import type { AssistantModelMessage, ModelMessage } from 'ai'
import { thinkingTokens } from '../estimate-usd.ts'
import type { ChatMessage, CompletionRequest, ModelTurn } from '../provider.ts'

export type ProviderOptions = NonNullable<ModelMessage['providerOptions']>

/** Converts the conversation to AI SDK messages. The last one carries the cache mark, if there is one. */
export function toModelMessages(
  messages: readonly ChatMessage[],
  lastMark: ProviderOptions | undefined,
): ModelMessage[] {
  const converted = messages.map(toModelMessage).filter((message) => message !== null)
  const last = converted.at(-1)
  if (lastMark === undefined || last === undefined) return converted
  return [...converted.slice(0, -1), { ...last, providerOptions: lastMark }]
}

function toModelMessage(message: ChatMessage): ModelMessage | null {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text }
    case 'assistant':
      return assistantMessage(message.answer)
    case 'tool':
      return {
        role: 'tool',
        content: message.results.map(({ id, name, output, isError }) => ({
          type: 'tool-result',
          toolCallId: id,
          toolName: name,
          output: { type: isError ? 'error-text' : 'text', value: output },
        })),
      }
  }
}

/** The original message with its signatures and ids, if this SDK produced it. Providers refuse an empty answer. */
function assistantMessage({ text, toolCalls, opaque }: ModelTurn): AssistantModelMessage | null {
  if (isAssistantMessage(opaque)) return opaque
  const content = [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map(({ id, name, input }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: name,
      input,
    })),
  ]
  return content.length === 0 ? null : { role: 'assistant', content }
}

function isAssistantMessage(value: unknown): value is AssistantModelMessage {
  return typeof value === 'object' && value !== null && 'role' in value && value.role === 'assistant'
}

type Asked = Pick<CompletionRequest, 'effort' | 'maxOutputTokens'>

/**
 * Older Claude models have a thinking budget on top of the answer. By default the SDK takes a share of the longest
 * possible answer, which is more than was reserved for the call. Newer models use the effort instead.
 */
export function claudeThinking(request: Asked): ProviderOptions {
  const budgetTokens = thinkingTokens(request)
  return budgetTokens === 0 ? {} : { anthropic: { thinking: { type: 'enabled', budgetTokens } } }
}

/** Gemini 2.5 takes its thinking from the answer's tokens. With its own choice of budget, none might be left for the answer. */
export function geminiThinking(model: string, request: Asked): ProviderOptions {
  const wanted = model.includes('gemini-2.5') ? thinkingTokens(request) : 0
  if (wanted === 0) return {}
  return {
    google: { thinkingConfig: { thinkingBudget: Math.min(wanted, Math.floor(request.maxOutputTokens / 2)) } },
  }
}
