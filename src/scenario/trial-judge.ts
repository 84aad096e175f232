import { type Budget, createBudget } from '../models/budget.ts'
import type { TrialSlot } from '../trials/contract.ts'
import type { Share } from '../trials/shares.ts'
import type { BatchedJudge } from './batched-judge.ts'
import type { PreparedRun } from './prepare-run.ts'
import type { TrialJudge } from './trial-work.ts'

export interface JudgeTerms {
  /** The scenario's own limit. */
  readonly maxUsd: number | undefined
  /** The trial's share of the run's budget. */
  readonly share: Pick<Share, 'settle' | 'raise'> & { usd(): number | null }
  readonly slot: TrialSlot
  /** The agent is paid, and the trial waits for its judge. */
  onAgentPaid(agentUsd: number | null): void
}

/**
 * The judge of one trial. A call made at once is paid from the rest of the trial's share. A call in a batch waits long while
 * other trials need money, so the share is returned and the run pays for the judge. `isRunOutOfMoney`: the run's budget, not a limit of
 * the scenario, prevented the call.
 */
export function trialJudge(
  { judge, budget }: Pick<PreparedRun, 'judge' | 'budget'>,
  batched: BatchedJudge | null,
  { maxUsd, share, slot, onAgentPaid }: JudgeTerms,
): { judge: TrialJudge | null; isRunOutOfMoney: () => boolean } {
  let isRunOutOfMoney = false
  if (judge === null) return { judge, isRunOutOfMoney: () => false }
  if (batched === null)
    return {
      judge: {
        model: judge,
        keepsQuestion: false,
        budget: (agentUsd) => {
          const usd = share.usd()
          return usd === null ? null : createBudget(usd, agentUsd ?? 0, share.raise)
        },
      },
      isRunOutOfMoney: () => false,
    }
  const ofRun: Budget = {
    ...budget,
    reserve: (estimateUsd) => {
      const grant = budget.reserve(estimateUsd)
      if (grant.kind === 'refused') isRunOutOfMoney = true
      return grant
    },
  }
  return {
    judge: {
      model: batched.modelFor(slot),
      keepsQuestion: true,
      budget: (agentUsd) => {
        share.settle(agentUsd)
        // An agent that used its whole share is not judged: the trial is postponed, or over its own limit.
        const usd = share.usd()
        if (usd !== null && (agentUsd ?? 0) >= usd) return createBudget(usd, agentUsd ?? 0)
        onAgentPaid(agentUsd)
        return maxUsd === undefined ? ofRun : joinBudgets(createBudget(maxUsd, agentUsd ?? 0), ofRun)
      },
    },
    isRunOutOfMoney: () => isRunOutOfMoney,
  }
}

/** Both budgets must allow every expense. */
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
