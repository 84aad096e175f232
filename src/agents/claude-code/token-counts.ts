import { asAmount, type JsonObject } from '../../core/json-fields.ts'

export interface TokenCounts {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Contained in `output`. */
  readonly thinking: number
}

export const noTokens: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0 }

/** `usage` of a message or of a turn, as the API tells it. */
export function messageCounts(usage: JsonObject): TokenCounts {
  return {
    input: asAmount(usage.input_tokens) ?? 0,
    output: asAmount(usage.output_tokens) ?? 0,
    cacheRead: asAmount(usage.cache_read_input_tokens) ?? 0,
    cacheWrite: asAmount(usage.cache_creation_input_tokens) ?? 0,
    thinking: 0,
  }
}

/** One entry of `modelUsage`. */
export function modelCounts(usage: JsonObject): TokenCounts {
  return {
    input: asAmount(usage.inputTokens) ?? 0,
    output: asAmount(usage.outputTokens) ?? 0,
    cacheRead: asAmount(usage.cacheReadInputTokens) ?? 0,
    cacheWrite: asAmount(usage.cacheCreationInputTokens) ?? 0,
    thinking: asAmount(usage.thinkingTokens) ?? 0,
  }
}

export function addCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return combine(a, b, (x, y) => x + y)
}

/** Never negative: an increment only adds. */
export function countsSince(now: TokenCounts, before: TokenCounts): TokenCounts {
  return combine(now, before, (x, y) => Math.max(0, x - y))
}

export function isNothing(counts: TokenCounts): boolean {
  return Object.values(counts).every((count) => count === 0)
}

function combine(a: TokenCounts, b: TokenCounts, how: (x: number, y: number) => number): TokenCounts {
  return {
    input: how(a.input, b.input),
    output: how(a.output, b.output),
    cacheRead: how(a.cacheRead, b.cacheRead),
    cacheWrite: how(a.cacheWrite, b.cacheWrite),
    thinking: how(a.thinking, b.thinking),
  }
}
