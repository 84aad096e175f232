import type { Rate } from '../core/summary.ts'

/** Unknown cost is `unmetered`, never zero. Four decimals below a dollar, two from there; a real cost is never shown as zero. */
export function formatCost(usd: number | null): string {
  if (usd === null) return 'unmetered'
  if (usd > 0 && usd < 0.0001) return '<$0.0001'
  const exact = usd.toFixed(4)
  return `$${Number(exact) < 1 ? exact : usd.toFixed(2)}`
}

/** Whole percents that never round an imperfect rate to 100% or a real one to 0%. */
export function formatPercent(share: number): string {
  const percent = Math.round(share * 100)
  if (percent === 100 && share < 1) return '>99%'
  if (percent === 0 && share > 0) return '<1%'
  return `${percent}%`
}

/** The value for `k` tries of pass@k or pass^k; null when there were fewer tries. */
export function percentAt(values: readonly number[], k: number): string | null {
  const value = values[k - 1]
  return value === undefined ? null : formatPercent(value)
}

/** `75% (42-93%)`, or a dash when nothing was counted. */
export function formatRate(rate: Rate): string {
  return rate.value === null ? '-' : `${formatPercent(rate.value)} (${formatInterval(rate)})`
}

/** The 95% interval alone: `42-93%`. */
export function formatInterval({ low, high }: Pick<Rate, 'low' | 'high'>): string {
  return `${Math.floor(low * 100)}-${Math.ceil(high * 100)}%`
}

export function formatScore(score: number): string {
  return score.toFixed(2)
}

/** A mean of counts: whole if possible, else with one decimal. */
export function formatMean(mean: number): string {
  if (mean > 0 && mean < 0.05) return '<0.1'
  return mean.toFixed(1).replace(/\.0$/, '')
}

/** `+12.5`: percentage points of a difference. One that is not 0 never looks like 0. */
export function formatPoints(share: number): string {
  const value = Math.round(share * 1000) / 10 || Number((share * 100).toPrecision(1))
  return value > 0 ? `+${value}` : String(value)
}
