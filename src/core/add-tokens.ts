import type { TokenUsage } from './trial.ts'

export const noTokens: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    ...((a.thinking !== undefined || b.thinking !== undefined) && {
      thinking: (a.thinking ?? 0) + (b.thinking ?? 0),
    }),
  }
}
