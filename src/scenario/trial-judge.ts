import { type Budget, createBudget } from '../models/budget.ts'
import type { TrialSlot } from '../trials/contract.ts'
import type { Share } from '../trials/shares.ts'
import type { BatchedJudge } from './batched-judge.ts'
import type { PreparedRun } from './prepare-run.ts'
import type { TrialJudge } from './trial-work.ts'

export interface JudgeTerms {
  /** The scenario's own limit. */
  readonly maxUsd: number | undefined
  /** What the trial has reserved of the run's money. */
  readonly share: Pick<Share, 'usd' | 'settle'>
  readonly slot: TrialSlot
  /** The agent is paid and the trial waits for its judge. */
  onAgentPaid(agentUsd: number | null): void
}

export interface JudgeOfTrial {
  readonly judge: TrialJudge | null
  /** The run's money, and not a limit of the scenario, kept the judge from being asked. */
  readonly isRunOutOfMoney: () => boolean
}

/**
 * The judge for one trial. One that is asked at once is paid from what the agent left of the trial's share. One that is
 * asked in a batch waits long, while others want to work: the share is given back, and the run pays the judge.
 */
export function trialJudge(
  { judge, budget }: Pick<PreparedRun, 'judge' | 'budget'>,
  batched: BatchedJudge | null,
  { maxUsd, share, slot, onAgentPaid }: JudgeTerms,
): JudgeOfTrial {
  let isRunOutOfMoney = false
  if (judge === null) return { judge, isRunOutOfMoney: () => false }
  if (batched === null)
    return {
      judge: {
        model: judge,
        keepsQuestion: false,
        budget: (agentUsd) => (share.usd === null ? null : createBudget(share.usd, agentUsd ?? 0)),
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
        // An agent that went through all its money is not judged: the trial is put aside, or over its own limit.
        if (share.usd !== null && (agentUsd ?? 0) >= share.usd) return createBudget(share.usd, agentUsd ?? 0)
        onAgentPaid(agentUsd)
        return maxUsd === undefined ? ofRun : joinBudgets(createBudget(maxUsd, agentUsd ?? 0), ofRun)
      },
    },
    isRunOutOfMoney: () => isRunOutOfMoney,
  }
}

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
