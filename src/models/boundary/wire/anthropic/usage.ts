import type { JsonObject } from '../../../../core/json-fields.ts'
import type { TokenUsage } from '../../../../core/trial.ts'
import { asCount, asJson } from '../json.ts'

export function writeUsage({ input, output, cacheRead, cacheWrite, thinking }: TokenUsage): JsonObject {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    ...(thinking !== undefined && { output_tokens_details: { thinking_tokens: thinking } }),
    service_tier: 'standard',
  }
}

/** Null when the provider did not report usage. A stream reports it twice, and the later value wins. */
export function readUsage(earlier: TokenUsage | null, received: unknown): TokenUsage | null {
  const usage = asJson(received)
  const output = asCount(usage.output_tokens)
  const input = asCount(usage.input_tokens)
  if (output === undefined && input === undefined) return earlier
  const thinking = asCount(asJson(usage.output_tokens_details).thinking_tokens) ?? earlier?.thinking
  return {
    input: input ?? earlier?.input ?? 0,
    output: output ?? earlier?.output ?? 0,
    cacheRead: asCount(usage.cache_read_input_tokens) ?? earlier?.cacheRead ?? 0,
    cacheWrite: asCount(usage.cache_creation_input_tokens) ?? earlier?.cacheWrite ?? 0,
    ...(thinking !== undefined && { thinking }),
  }
}
