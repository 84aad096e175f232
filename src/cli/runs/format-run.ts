import pc from 'picocolors'
import { formatDuration } from '../../core/duration.ts'
import { formatCost } from '../../report/quantity.ts'
import type { RunStatus, RunTotals } from '../../store/contract.ts'

export function formatRunStatus(text: string, status: RunStatus | 'unknown', color: boolean): string {
  const { green, red, yellow, cyan, dim } = pc.createColors(color)
  const paints: Partial<Record<typeof status, (text: string) => string>> = {
    pass: green,
    fail: red,
    running: cyan,
    unknown: dim,
  }
  return (paints[status] ?? yellow)(text)
}

/** What a run spent: nothing when all trials came from the cache, unmetered when no trial reported a price. */
export function formatRunCost(totals: RunTotals | null): string {
  return totals === null ? '-' : formatCost(totals.cost_usd)
}

/** An age in its largest unit: `3h ago`. */
export function formatAge(ageMs: number): string {
  const [largest = ''] = formatDuration(Math.max(0, ageMs)).split(' ')
  return `${largest} ago`
}

/** `fail 10/12, 1 infra`: passed of counted trials, and those not counted. */
export function formatRunResult(status: string, totals: RunTotals | null): string {
  if (totals === null) return status
  const { pass, fail, infra, invalid } = totals.counts
  const apart = Object.entries({ infra, invalid, 'not run': totals.not_run })
  const parts = apart.flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
  return [`${status} ${pass}/${pass + fail}`, ...parts].join(', ')
}
