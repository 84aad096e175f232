import { addTokens, noTokens } from '../../../core/add-tokens.ts'
import { settled } from '../../../core/case-tally.ts'
import { type PriceTable, price } from '../../../models/pricing.ts'
import type { CacheStats, ModelCost } from './evaluation-summary.ts'

/** How far the agents' prompts came from a cache, and what that saved. */
export function cacheStats(models: readonly ModelCost[], prices: PriceTable): CacheStats {
  const used = models.flatMap(({ model, tokens }) => (tokens === null ? [] : [{ model, tokens }]))
  const { input, cacheRead, cacheWrite } = used.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens)
  const allInput = input + cacheRead + cacheWrite
  let savingsUsd: number | null = 0
  for (const { model, tokens } of used) {
    if (tokens.cacheRead + tokens.cacheWrite === 0) continue
    const plain = price(model, { ...noTokens, input: tokens.cacheRead + tokens.cacheWrite }, prices)
    const paid = price(
      model,
      { ...noTokens, cacheRead: tokens.cacheRead, cacheWrite: tokens.cacheWrite },
      prices,
    )
    savingsUsd = plain === null || paid === null || savingsUsd === null ? null : savingsUsd + plain - paid
  }
  return {
    cache_read_tokens: cacheRead,
    cache_creation_tokens: cacheWrite,
    input_tokens: allInput,
    hit_rate: allInput === 0 ? null : settled(cacheRead / allInput),
    savings_usd: savingsUsd === null ? null : settled(savingsUsd),
  }
}
