import type { TokenPrice } from './price-table.ts'
import type { ChatMessage, CompletionRequest } from './provider.ts'

/**
 * The most that a call is likely to cost; null when the price is unknown. Input tokens are estimated as a third of the
 * bytes, above what tokenizers produce for prose and code, plus a little for the envelope.
 */
export function estimateUsd(
  request: Pick<CompletionRequest, 'system' | 'messages' | 'tools' | 'maxOutputTokens' | 'effort'>,
  price: TokenPrice | null,
): number | null {
  if (price === null) return null
  const inputTokens = Math.ceil(requestBytes(request) / 3) + 50 * request.messages.length
  const tier = price.long !== undefined && inputTokens > price.long.aboveInputTokens ? price.long : price
  const inputPrice = Math.max(tier.input, tier.cacheWrite)
  const outputPrice = Math.max(tier.output, tier.thinking ?? 0)
  const outputTokens = request.maxOutputTokens + thinkingTokens(request)
  return (inputTokens * inputPrice + outputTokens * outputPrice) / 1_000_000
}

function requestBytes({
  system = '',
  messages,
  tools = [],
}: Pick<CompletionRequest, 'system' | 'messages' | 'tools'>): number {
  const said = messages.reduce((sum, message) => sum + messageBytes(message), 0)
  return Buffer.byteLength(system) + said + (tools.length === 0 ? 0 : jsonBytes(tools))
}

function messageBytes(message: ChatMessage): number {
  switch (message.role) {
    case 'user':
      return Buffer.byteLength(message.text)
    case 'assistant': {
      const { text, thinking, toolCalls } = message.answer
      return Buffer.byteLength(text) + Buffer.byteLength(thinking) + jsonBytes(toolCalls)
    }
    case 'tool':
      return message.results.reduce((sum, { output }) => sum + Buffer.byteLength(output), 0)
  }
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}

const shares = { none: 0, low: 0.1, medium: 0.3, high: 0.6 } as const

/** Anthropic accepts no smaller budget. */
const fewest = 1_024

/**
 * The thinking budget of models that have one besides the answer: a share of the answer's limit, so that an effort does
 * not multiply the cost of a call. 0 when no effort is requested.
 */
export function thinkingTokens({
  effort,
  maxOutputTokens,
}: Pick<CompletionRequest, 'effort' | 'maxOutputTokens'>): number {
  if (effort === undefined || effort === 'none') return 0
  return Math.max(fewest, Math.round(maxOutputTokens * shares[effort]))
}
