import type { Budget } from '../models/contract.ts'

/** The budget of a run, shared by its trials: none starts that the budget does not allow, and none spends what another reserved. */
export interface Shares {
  /**
   * Reserves money for one attempt. null: the budget is used up. Waits while what other attempts have reserved may become
   * free. `maxUsd`: the trial's own limit.
   */
  reserve(maxUsd: number | null): Promise<Share | null>
  /** Why nothing more can be reserved; null when something could. */
  refusal(): string | null
}

export interface Share {
  /** What the attempt may cost. null = no limit. */
  readonly usd: number | null
  /** A second call changes nothing. null = the cost is unknown. */
  settle(costUsd: number | null): void
}

export interface ShareOptions {
  readonly concurrency: number
  /** What a trial probably costs, before any has ended. */
  readonly expectedCostUsd: number | null
}

/** `budget` null: everything is free. */
export function openShares(budget: Budget | null, { concurrency, expectedCostUsd }: ShareOptions): Shares {
  const ended = { count: 0, usd: 0 }
  let underWay = 0
  let waiting: (() => void)[] = []
  let refused: string | null = null
  if (budget === null) {
    const free = Promise.resolve({ usd: null, settle: () => {} })
    return { reserve: () => free, refusal: () => null }
  }

  /** An equal part of what is left for each trial that runs, or what a trial costs on average, if that is more. */
  const sizeOf = (maxUsd: number | null): { readonly usd: number | null; readonly isEnough: boolean } => {
    const left = budget.remainingUsd()
    if (left === null || budget.capUsd === null) return { usd: maxUsd, isEnough: true }
    const own = maxUsd ?? Number.POSITIVE_INFINITY
    const mean = ended.count === 0 ? null : ended.usd / ended.count
    const part = (budget.capUsd - budget.state().spentUsd) / concurrency
    const usd = Math.min(own, Math.max(part, mean ?? expectedCostUsd ?? 0), left)
    // A sum of fractions may be a little too large.
    return { usd, isEnough: left > 0 && usd + 1e-9 >= Math.min(own, mean ?? 0) }
  }
  const tryReserve = (maxUsd: number | null): Share | null => {
    const { usd, isEnough } = sizeOf(maxUsd)
    const grant = isEnough ? budget.reserve(usd) : null
    if (grant === null || grant.kind === 'refused') {
      refused = grant?.message ?? tooLittle(budget)
      return null
    }
    underWay += 1
    let isOpen = true
    return {
      usd,
      settle(costUsd) {
        if (!isOpen) return
        isOpen = false
        underWay -= 1
        if (costUsd !== null) {
          ended.count += 1
          ended.usd += costUsd
        }
        grant.settle(costUsd)
        const woken = waiting
        waiting = []
        for (const wake of woken) wake()
      },
    }
  }

  return {
    async reserve(maxUsd) {
      for (;;) {
        const share = tryReserve(maxUsd)
        if (share !== null || underWay === 0) return share
        await new Promise<void>((wake) => waiting.push(wake))
      }
    },
    refusal: () => refused,
  }
}

function tooLittle(budget: Budget): string {
  const left = budget.remainingUsd() ?? 0
  return `the budget of $${(budget.capUsd ?? 0).toFixed(2)} has $${left.toFixed(4)} left, which is less than a trial costs`
}
