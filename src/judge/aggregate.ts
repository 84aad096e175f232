/** How several samples become one score. */
export type Aggregate = 'mean' | 'median' | 'min'

/** Of at least one value. */
export function aggregate(values: readonly number[], how: Aggregate): number {
  switch (how) {
    case 'mean':
      return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e9) / 1e9
    case 'median':
      return median(values.toSorted((a, b) => a - b))
    case 'min':
      return Math.min(...values)
  }
}

function median(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
