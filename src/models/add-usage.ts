import type { TokenUsage } from '../core/trial.ts'

export const noTokens: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  }
}

/** A sum with an unknown part is unknown. */
export function addCost(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}
