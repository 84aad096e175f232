/** One figure: ours against a baseline measured in the same run, because machines are noisy and absolute times are not stable. */
export interface Figure {
  readonly name: string
  /** What is promised, in words. */
  readonly limit: string
  readonly ratio: number
  readonly ok: boolean
  readonly detail: Readonly<Record<string, number>>
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
