import { addCost } from '../core/add-cost.ts'
import { addTokens, noTokens, type TokenUsage } from '../core/trial.ts'

export interface LedgerRow {
  readonly model: string
  readonly calls: number
  readonly tokens: TokenUsage
  /** null when the price is unknown: unmetered, which is not zero. */
  readonly costUsd: number | null
}

/** Adds up calls per model, in the order in which the models appeared. */
export function createUsageRows() {
  const rows = new Map<string, LedgerRow>()
  return {
    add({ model, tokens, costUsd }: Omit<LedgerRow, 'calls'>): void {
      const row = rows.get(model) ?? { calls: 0, tokens: noTokens, costUsd: 0 }
      rows.set(model, {
        model,
        calls: row.calls + 1,
        tokens: addTokens(row.tokens, tokens),
        costUsd: addCost(row.costUsd, costUsd),
      })
    },
    rows: (): readonly LedgerRow[] => [...rows.values()],
  }
}
