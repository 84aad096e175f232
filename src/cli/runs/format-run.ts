import pc from 'picocolors'
import { formatDuration } from '../../core/duration.ts'
import { formatCost } from '../../report/quantity.ts'
import type { RunStatus, RunTotals } from '../../store/contract.ts'

/** The colour of an end, the same for runs and trials. */
export function paintStatus(text: string, status: RunStatus | 'unknown', color: boolean): string {
  const { green, red, yellow, cyan, dim } = pc.createColors(color)
  switch (status) {
    case 'pass':
      return green(text)
    case 'fail':
      return red(text)
    case 'infra':
    case 'invalid':
    case 'partial':
    case 'inconclusive':
    case 'interrupted':
      return yellow(text)
    case 'running':
      return cyan(text)
    case 'unknown':
      return dim(text)
  }
}

/** What a run has cost: nothing when all of it came from the cache, unmetered when no trial told a price. */
export function costOf(totals: RunTotals | null): string {
  if (totals === null) return '-'
  const allCached = totals.trials > 0 && totals.trials === totals.cached
  return formatCost(allCached ? 0 : totals.cost_usd)
}

/** How long ago something was, in its largest unit: `3h ago`. */
export function ago(ageMs: number): string {
  const [largest = ''] = formatDuration(Math.max(0, ageMs)).split(' ')
  return `${largest} ago`
}
