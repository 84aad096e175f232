import type { Untimed, UsageEvent } from '../core/event.ts'
import type { UsageTotal } from './stream.ts'

/** Adds up usage events. Money and tokens stay unknown until an event reports them: unknown is not zero. */
export interface UsageMeter {
  add(usage: Untimed<UsageEvent>): void
  total(): UsageTotal
}

export function createUsageMeter(): UsageMeter {
  let costUsd: number | null = null
  let told = false
  let input = 0
  let output = 0
  let cacheRead = 0
  let cacheWrite = 0
  let thinking: number | undefined
  return {
    add(usage) {
      told = true
      input += usage.input_tokens
      output += usage.output_tokens
      cacheRead += usage.cache_read_tokens ?? 0
      cacheWrite += usage.cache_write_tokens ?? 0
      if (usage.thinking_tokens !== undefined) thinking = (thinking ?? 0) + usage.thinking_tokens
      if (usage.cost_usd !== undefined) costUsd = (costUsd ?? 0) + usage.cost_usd
    },
    total: () => ({
      costUsd,
      tokens: told
        ? { input, output, cacheRead, cacheWrite, ...(thinking !== undefined && { thinking }) }
        : null,
    }),
  }
}
