import type { AssistantModelMessage, ModelMessage } from 'ai'
import { thinkingTokens } from '../estimate-usd.ts'
import type { ChatMessage, CompletionRequest, ModelTurn } from '../provider.ts'

export type ProviderOptions = NonNullable<ModelMessage['providerOptions']>

/** The conversation in the words of the AI SDK; the last message carries the mark, if there is one. */
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

/** As it came, with signatures and ids, when it came from here. Providers refuse an answer in which nothing was said. */
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
 * Older Claude models think within a budget on top of the answer. By itself the SDK takes a share of the longest answer the
 * model could ever give, which is more than was reserved for the call. Newer ones take the effort instead of it.
 */
export function claudeThinking(request: Asked): ProviderOptions {
  const budgetTokens = thinkingTokens(request)
  return budgetTokens === 0 ? {} : { anthropic: { thinking: { type: 'enabled', budgetTokens } } }
}

/** Gemini 2.5 thinks within the tokens of the answer: a budget of its own choice would leave none to answer with. */
export function geminiThinking(model: string, request: Asked): ProviderOptions {
  const wanted = model.includes('gemini-2.5') ? thinkingTokens(request) : 0
  if (wanted === 0) return {}
  return {
    google: { thinkingConfig: { thinkingBudget: Math.min(wanted, Math.floor(request.maxOutputTokens / 2)) } },
  }
}
