import type { GantryEvent } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'

export interface Cost {
  /** null when the agent reported no usage at all. */
  readonly tokens: TokenUsage | null
  /** The sum of what was priced; with `metered: 'some'` it is a lower bound. null when nothing was. */
  readonly costUsd: number | null
  /** Whether every, some or no reported usage carried a price. Unknown is not zero. */
  readonly metered: 'all' | 'some' | 'none'
}

export interface CostFold {
  add(event: GantryEvent): void
  finish(): Cost
}

/** Adds up usage events, which are increments. An increment of nothing says nothing about metering. */
export function foldCost(): CostFold {
  let tokens: TokenUsage | null = null
  let costUsd = 0
  let priced = 0
  let unpriced = 0
  return {
    add: (event) => {
      if (event.event !== 'usage') return
      const more: TokenUsage = {
        input: amount(event.input_tokens),
        output: amount(event.output_tokens),
        cacheRead: amount(event.cache_read_tokens),
        cacheWrite: amount(event.cache_write_tokens),
      }
      tokens = tokens === null ? more : sum(tokens, more)
      if (event.cost_usd !== undefined && isAmount(event.cost_usd)) {
        costUsd += event.cost_usd
        priced += 1
      } else if (more.input + more.output + more.cacheRead + more.cacheWrite > 0) {
        unpriced += 1
      }
    },
    finish: () => ({
      tokens,
      costUsd: priced === 0 ? null : costUsd,
      metered: priced === 0 ? 'none' : unpriced === 0 ? 'all' : 'some',
    }),
  }
}

function sum(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  }
}

function amount(value: number | undefined): number {
  return value !== undefined && isAmount(value) ? value : 0
}

/** Numbers come from foreign programs: a negative or infinite one is no amount. */
function isAmount(value: number): boolean {
  return Number.isFinite(value) && value >= 0
}
