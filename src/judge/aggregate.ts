/** How several samples become one score. */
export type Aggregate = 'mean' | 'median' | 'min' | 'mode'

/** Of at least one value. */
export function aggregate(values: readonly number[], how: Aggregate): number {
  switch (how) {
    case 'mean':
      return mean(values)
    case 'median':
      return median(values.toSorted((a, b) => a - b))
    case 'min':
      return Math.min(...values)
    case 'mode':
      return mean(mostFrequent(values))
  }
}

function median(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

function mean(values: readonly number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e9) / 1e9
}

/** All most frequent values, each once. */
function mostFrequent(values: readonly number[]): readonly number[] {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const most = Math.max(...counts.values())
  return [...counts].filter(([, count]) => count === most).map(([value]) => value)
}
