import { type Budget, createBudget } from '../models/budget.ts'
import { formatCost } from '../report/quantity.ts'
import type { Journal } from './journal.ts'
import { TaskHalt } from './task-halt.ts'

/** What a task has cost, in this process and in earlier ones, and what it may still cost. */
export interface TaskSpending {
  readonly budget: Budget
  /** To be called before the step that cost it is kept: a step that is repeated is paid for twice. null: nobody knows. */
  add(costUsd: number | null): void
  /** For what does not reserve from the budget itself. */
  charge(costUsd: number | null): void
  /** null when no step told what it cost. */
  total(): number | null
  /** Throws a halt when the budget is spent, or a call was refused because of it. */
  check(): void
}

interface Kept {
  readonly usd: number
  readonly metered: number
}

export function openSpending(journal: Journal, capUsd: number | null): TaskSpending {
  let { usd, metered } = journal.kept<Kept>('spent') ?? { usd: 0, metered: 0 }
  const inner = createBudget(capUsd, usd)
  let isRefused = false
  const budget: Budget = {
    ...inner,
    reserve: (estimateUsd) => {
      const grant = inner.reserve(estimateUsd)
      if (grant.kind === 'refused') isRefused = true
      return grant
    },
  }
  return {
    budget,
    add: (costUsd) => {
      if (costUsd === null) return
      usd += costUsd
      metered += 1
      journal.keep('spent', { usd, metered } satisfies Kept)
    },
    charge: (costUsd) => {
      const grant = inner.reserve(0)
      if (grant.kind === 'granted') grant.settle(costUsd)
    },
    total: () => (metered === 0 ? null : usd),
    check: () => {
      const isSpent = capUsd !== null && usd >= capUsd
      if (!isSpent && !isRefused) return
      const reason = `the budget of ${formatCost(capUsd)} (--max-cost-usd) does not allow another step: ${formatCost(usd)} is spent`
      throw new TaskHalt({ kind: 'stuck', reason })
    },
  }
}
