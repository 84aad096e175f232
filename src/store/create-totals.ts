import type { RunTotals, TrialRow } from './contract.ts'

export type TotalsFold = ReturnType<typeof createTotals>

/** Sums over the finished trials of a run. A cached trial costs nothing, but stays unmetered when its first run was. */
export function createTotals(rows: Iterable<TrialRow> = []) {
  const counts = { pass: 0, fail: 0, infra: 0, invalid: 0 }
  const sums = { trials: 0, cached: 0, cachedKnown: 0, metered: 0, unmetered: 0, costUsd: 0 }
  /** `sign` -1: the trial was discarded. */
  const add = (row: TrialRow, sign: 1 | -1 = 1): void => {
    sums.trials += sign
    counts[row.verdict] += sign
    if (row.cached_from !== null) {
      sums.cached += sign
      if (row.cost_usd !== null) sums.cachedKnown += sign
    } else if (row.cost_usd === null) sums.unmetered += sign
    else {
      sums.metered += sign
      sums.costUsd += sign * row.cost_usd
    }
  }
  for (const row of rows) add(row)
  return {
    add,
    finish: ({
      planned,
      durationMs,
    }: {
      readonly planned: number
      readonly durationMs: number
    }): RunTotals => {
      const isFree = sums.unmetered === 0 && sums.cachedKnown > 0
      return {
        trials: sums.trials,
        counts: { ...counts },
        not_run: Math.max(0, planned - sums.trials),
        cached: sums.cached,
        cost_usd: sums.metered > 0 ? sums.costUsd : isFree ? 0 : null,
        unmetered_trials: sums.unmetered,
        duration_ms: Math.round(durationMs),
      }
    },
  }
}
