import { formatCost } from '../../report/quantity.ts'
import type { RunTotals } from '../../store/contract.ts'

/** What a run has cost: nothing when all of it came from the cache, unmetered when no trial told a price. */
export function costOf(totals: RunTotals | null): string {
  if (totals === null) return '-'
  const allCached = totals.trials > 0 && totals.trials === totals.cached
  return formatCost(allCached ? 0 : totals.cost_usd)
}
