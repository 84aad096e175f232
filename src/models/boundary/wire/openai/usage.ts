import type { TokenUsage } from '../../../../core/trial.ts'
import { asCount, asJson } from '../json.ts'

/** The two APIs count the same things under different names. */
interface UsageKeys {
  readonly input: string
  readonly output: string
}

export const chatUsage: UsageKeys = { input: 'prompt_tokens', output: 'completion_tokens' }
export const responsesUsage: UsageKeys = { input: 'input_tokens', output: 'output_tokens' }

/** OpenAI's input includes tokens read from and written to the cache; ours does not. */
export function writeUsage(keys: UsageKeys, tokens: TokenUsage): Record<string, unknown> {
  const input = tokens.input + tokens.cacheRead + tokens.cacheWrite
  return {
    [keys.input]: input,
    [`${keys.input}_details`]: {
      cached_tokens: tokens.cacheRead,
      ...(tokens.cacheWrite > 0 && { cache_write_tokens: tokens.cacheWrite }),
    },
    [keys.output]: tokens.output,
    ...(tokens.thinking !== undefined && {
      [`${keys.output}_details`]: { reasoning_tokens: tokens.thinking },
    }),
    total_tokens: input + tokens.output,
  }
}

/** null when there are no counts. */
export function readUsage(keys: UsageKeys, value: unknown): TokenUsage | null {
  const usage = asJson(value)
  const input = asCount(usage[keys.input])
  const output = asCount(usage[keys.output])
  if (input === undefined && output === undefined) return null
  const cache = asJson(usage[`${keys.input}_details`])
  const cacheRead = asCount(cache.cached_tokens) ?? 0
  const cacheWrite = asCount(cache.cache_write_tokens) ?? 0
  const thinking = asCount(asJson(usage[`${keys.output}_details`]).reasoning_tokens)
  return {
    input: Math.max(0, (input ?? 0) - cacheRead - cacheWrite),
    output: output ?? 0,
    cacheRead,
    cacheWrite,
    ...(thinking !== undefined && { thinking }),
  }
}
