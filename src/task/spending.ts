import { type Budget, createBudget } from '../models/budget.ts'
import { formatCost } from '../report/quantity.ts'
import type { Journal } from './journal.ts'
import { TaskHalt } from './task-halt.ts'

/** The cost of a task, including earlier processes, and the rest of its budget. */
export type TaskSpending = ReturnType<typeof openSpending>

interface Kept {
  readonly usd: number
  readonly metered: number
}

export function openSpending(journal: Journal, capUsd: number | null) {
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
    /** Call this before the step is journaled, because a repeated step is paid for twice. null: the cost is unknown. */
    add: (costUsd: number | null): void => {
      if (costUsd === null) return
      usd += costUsd
      metered += 1
      journal.keep('spent', { usd, metered } satisfies Kept)
    },
    /** For calls that do not reserve from the budget themselves. */
    charge: (costUsd: number | null): void => {
      const grant = inner.reserve(0)
      if (grant.kind === 'granted') grant.settle(costUsd)
    },
    /** null when no step reported a cost. */
    total: (): number | null => (metered === 0 ? null : usd),
    /** Throws a halt when the budget is spent or has refused a call. */
    check: (): void => {
      const isSpent = capUsd !== null && usd >= capUsd
      if (!isSpent && !isRefused) return
      const reason = `the budget of ${formatCost(capUsd)} (--max-cost-usd) does not allow another step: ${formatCost(usd)} is spent`
      throw new TaskHalt({ kind: 'stuck', reason })
    },
  }
}
