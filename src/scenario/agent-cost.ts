import type { AgentOutcome } from '../agents/contract.ts'
import type { ModelUsage } from '../core/trial.ts'
import { addCost } from '../models/add-cost.ts'
import { price } from '../models/pricing.ts'
import type { TrialWork } from './trial-work.ts'

/** What the agent told, else what its tokens cost by the price table. Unknown stays unknown. */
export function agentCostUsd(
  work: Pick<TrialWork, 'planned' | 'prices'>,
  outcome: AgentOutcome,
  usage: readonly ModelUsage[],
): number | null {
  return outcome.costUsd ?? sumOf(pricedUsage(work, usage)) ?? byPlannedModel(work, outcome)
}

/** Rows without a cost get what their tokens cost. */
export function pricedUsage(
  { prices }: Pick<TrialWork, 'prices'>,
  usage: readonly ModelUsage[],
): ModelUsage[] {
  return usage.map((row) => ({ ...row, costUsd: row.costUsd ?? price(row.model, row.tokens, prices) }))
}

/** A sum with an unknown part is unknown. */
function sumOf(usage: readonly ModelUsage[]): number | null {
  if (usage.length === 0) return null
  return usage.reduce<number | null>((sum, { costUsd }) => addCost(sum, costUsd), 0)
}

/** For an agent that does not say which model its tokens are of. */
function byPlannedModel(
  { planned, prices }: Pick<TrialWork, 'planned' | 'prices'>,
  { tokens }: AgentOutcome,
): number | null {
  return tokens === null ? null : price(planned.model, tokens, prices)
}
