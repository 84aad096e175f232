import type { Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asString, defined, type JsonObject } from '../../core/json-fields.ts'

/** The tokens of one model call. Its `cost` is a multiplier of requests, not money. */
export function usageOf(data: JsonObject): Untimed<UsageEvent> | null {
  const input = asAmount(data.inputTokens)
  const output = asAmount(data.outputTokens)
  if (input === undefined && output === undefined) return null
  const cached = Math.min(input ?? 0, asAmount(data.cacheReadTokens) ?? 0)
  return defined({
    event: 'usage' as const,
    model: asString(data.model),
    input_tokens: (input ?? 0) - cached,
    output_tokens: output ?? 0,
    cache_read_tokens: cached,
    cache_write_tokens: asAmount(data.cacheWriteTokens),
    thinking_tokens: asAmount(data.reasoningTokens),
  })
}
