import type { UsageTotal } from '../stream.ts'

/** What was used between two looks at a total. */
export function usageSince(before: UsageTotal, now: UsageTotal): UsageTotal {
  const { tokens, costUsd } = now
  const earlier = before.tokens ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  return {
    costUsd: costUsd === null ? null : costUsd - (before.costUsd ?? 0),
    tokens:
      tokens === null
        ? null
        : {
            input: tokens.input - earlier.input,
            output: tokens.output - earlier.output,
            cacheRead: tokens.cacheRead - earlier.cacheRead,
            cacheWrite: tokens.cacheWrite - earlier.cacheWrite,
          },
  }
}
