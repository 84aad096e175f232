import type { RunTotals, TrialRow } from './contract.ts'

/** Sums over the finished trials of a run. A cached trial costs nothing, but stays unmetered when its first run was. */
export function runTotals(
  rows: Iterable<TrialRow>,
  { planned, durationMs }: { readonly planned: number; readonly durationMs: number },
): RunTotals {
  const counts = { pass: 0, fail: 0, infra: 0, invalid: 0 }
  let trials = 0
  let cached = 0
  let unmetered = 0
  let costUsd: number | null = null
  let isCachedKnown = false
  for (const row of rows) {
    trials += 1
    counts[row.verdict] += 1
    if (row.cached_from !== null) {
      cached += 1
      isCachedKnown ||= row.cost_usd !== null
    } else if (row.cost_usd === null) unmetered += 1
    else costUsd = (costUsd ?? 0) + row.cost_usd
  }
  return {
    trials,
    counts,
    not_run: Math.max(0, planned - trials),
    cached,
    cost_usd: costUsd ?? (unmetered === 0 && isCachedKnown ? 0 : null),
    unmetered_trials: unmetered,
    duration_ms: Math.round(durationMs),
  }
}
