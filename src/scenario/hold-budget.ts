import type { Budget, Grant } from '../models/budget.ts'

export type Hold =
  | { readonly kind: 'refused'; readonly message: string }
  | {
      readonly kind: 'held'
      /** Grants the first call that is no larger from what is held, and everything else from the budget behind. */
      readonly budget: Budget
      /** What nobody took is free again. */
      release(): void
    }

/**
 * Sets money aside for a call that is sent much later, so that nobody else spends it meanwhile: a trial that is paid for
 * and cannot be judged is worth nothing.
 */
export function holdBudget(behind: Budget, estimateUsd: number | null): Hold {
  const grant = behind.reserve(estimateUsd)
  if (grant.kind === 'refused') return grant
  let held: Extract<Grant, { kind: 'granted' }> | null = grant
  const release = (): void => {
    held?.settle(0)
    held = null
  }
  return {
    kind: 'held',
    release,
    budget: {
      ...behind,
      reserve: (wanted) => {
        const mine = held
        if (mine !== null && (wanted ?? 0) <= (mine.usd ?? 0)) {
          held = null
          return mine
        }
        release()
        return behind.reserve(wanted)
      },
    },
  }
}
