import type { GantryEvent, Untimed, UsageEvent } from '../core/event.ts'
import { addTokens, type ModelUsage, type TokenUsage } from '../core/trial.ts'

/** Adds up usage events, which are increments, per model. A model of which nothing was priced is unmetered: unknown is not zero. */
export function foldUsageByModel() {
  const rows = new Map<string, ModelUsage>()
  return {
    add: (event: GantryEvent): void => {
      if (event.event !== 'usage') return
      const model = event.model ?? 'unknown'
      const row = rows.get(model)
      const more = tokensOf(event)
      const costUsd =
        event.cost_usd !== undefined && isAmount(event.cost_usd)
          ? (row?.costUsd ?? 0) + event.cost_usd
          : (row?.costUsd ?? null)
      rows.set(model, { model, tokens: row === undefined ? more : addTokens(row.tokens, more), costUsd })
    },
    /** In the order in which the models appeared. */
    finish: (): readonly ModelUsage[] => [...rows.values()],
  }
}

/** Numbers of other programs: negative or infinite ones count as 0. */
export function tokensOf(event: Untimed<UsageEvent>): TokenUsage {
  return {
    input: amount(event.input_tokens),
    output: amount(event.output_tokens),
    cacheRead: amount(event.cache_read_tokens),
    cacheWrite: amount(event.cache_write_tokens),
    ...(event.thinking_tokens !== undefined && { thinking: amount(event.thinking_tokens) }),
  }
}

function amount(value: number | undefined): number {
  return value !== undefined && isAmount(value) ? value : 0
}

function isAmount(value: number): boolean {
  return Number.isFinite(value) && value >= 0
}
