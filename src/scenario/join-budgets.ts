import type { Budget } from '../models/budget.ts'

/** Whatever is spent must be allowed by both. */
export function joinBudgets(first: Budget, second: Budget): Budget {
  return {
    capUsd: least(first.capUsd, second.capUsd),
    remainingUsd: () => least(first.remainingUsd(), second.remainingUsd()),
    state: () => first.state(),
    reserve: (estimateUsd) => {
      const one = first.reserve(estimateUsd)
      if (one.kind === 'refused') return one
      const other = second.reserve(estimateUsd)
      if (other.kind === 'refused') {
        one.settle(0)
        return other
      }
      return {
        ...one,
        settle: (actualUsd) => {
          one.settle(actualUsd)
          other.settle(actualUsd)
        },
      }
    },
  }
}

/** null = no cap. */
function least(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
