export interface Diversity {
  /** Situations that differ from each other. */
  readonly baseCount: number
  /** Scenarios that may share one situation, at most. */
  readonly variationsPerBase: number
}

/** How many ideas of their own `total` scenarios have. 1: every scenario has one; lower: fewer ideas, each in several variations. */
export function diversity(total: number, asked: number): Diversity {
  const degree = Math.min(1, Math.max(0.1, asked))
  return { baseCount: roundedUp(total * degree), variationsPerBase: roundedUp(1 / degree) }
}

/** Rounded up, but not for the noise of a multiplication: 10 x 0.7 is 7. */
function roundedUp(value: number): number {
  return Math.ceil(Number(value.toFixed(9)))
}
