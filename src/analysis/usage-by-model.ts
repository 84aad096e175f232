import type { GantryEvent } from '../core/event.ts'
import { addTokens, type ModelUsage, type TokenUsage } from '../core/trial.ts'

export interface UsageFold {
  add(event: GantryEvent): void
  /** In the order in which the models appeared. */
  finish(): readonly ModelUsage[]
}

/** Adds up usage events, which are increments, per model. A model of which nothing was priced is unmetered: unknown is not zero. */
export function foldUsageByModel(): UsageFold {
  const rows = new Map<string, ModelUsage>()
  return {
    add: (event) => {
      if (event.event !== 'usage') return
      const model = event.model ?? 'unknown'
      const row = rows.get(model)
      const more: TokenUsage = {
        input: amount(event.input_tokens),
        output: amount(event.output_tokens),
        cacheRead: amount(event.cache_read_tokens),
        cacheWrite: amount(event.cache_write_tokens),
        ...(event.thinking_tokens !== undefined && { thinking: amount(event.thinking_tokens) }),
      }
      const costUsd =
        event.cost_usd !== undefined && isAmount(event.cost_usd)
          ? (row?.costUsd ?? 0) + event.cost_usd
          : (row?.costUsd ?? null)
      rows.set(model, { model, tokens: row === undefined ? more : addTokens(row.tokens, more), costUsd })
    },
    finish: () => [...rows.values()],
  }
}

function amount(value: number | undefined): number {
  return value !== undefined && isAmount(value) ? value : 0
}

/** Numbers come from other programs: a negative or infinite one does not count. */
function isAmount(value: number): boolean {
  return Number.isFinite(value) && value >= 0
}
