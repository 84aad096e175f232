import type { AgentOutcome } from '../agents/contract.ts'
import { addCost } from '../core/add-cost.ts'
import type { ModelUsage } from '../core/trial.ts'
import { type PriceTable, price } from '../models/pricing.ts'

export interface CostFacts {
  /** The model that was asked for. */
  readonly model: string
  readonly prices: PriceTable
}

/** What the agent told, else what its tokens cost by the price table. Unknown stays unknown. */
export function agentCostUsd(
  facts: CostFacts,
  outcome: AgentOutcome,
  usage: readonly ModelUsage[],
): number | null {
  return outcome.costUsd ?? sumOf(pricedUsage(facts, usage)) ?? byPlannedModel(facts, outcome)
}

/** Rows without a cost get what their tokens cost. */
export function pricedUsage(
  { prices }: Pick<CostFacts, 'prices'>,
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
function byPlannedModel({ model, prices }: CostFacts, { tokens }: AgentOutcome): number | null {
  return tokens === null ? null : price(model, tokens, prices)
}
