import { addTokens, type TokenUsage } from '../core/trial.ts'

/** What one model was asked for and what it cost. */
export interface LedgerRow {
  readonly model: string
  readonly calls: number
  readonly tokens: TokenUsage
  /** null = no known price: unmetered, which is not zero. */
  readonly costUsd: number | null
}

/** Adds up calls per model, in the order in which the models appeared. */
export interface UsageRows {
  add(call: { readonly model: string; readonly tokens: TokenUsage; readonly costUsd: number | null }): void
  rows(): readonly LedgerRow[]
}

export function createUsageRows(): UsageRows {
  const rows = new Map<string, LedgerRow>()
  return {
    add({ model, tokens, costUsd }) {
      const row = rows.get(model)
      rows.set(
        model,
        row === undefined
          ? { model, calls: 1, tokens, costUsd }
          : {
              model,
              calls: row.calls + 1,
              tokens: addTokens(row.tokens, tokens),
              costUsd: row.costUsd === null || costUsd === null ? null : row.costUsd + costUsd,
            },
      )
    },
    rows: () => [...rows.values()],
  }
}
