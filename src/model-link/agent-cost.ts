import type { AgentOutcome } from '../agents/contract.ts'
import { foldUsageByModel } from '../analysis/usage-by-model.ts'
import { addCost } from '../core/add-cost.ts'
import type { GantryEvent } from '../core/event.ts'
import type { ModelUsage } from '../core/trial.ts'
import { readJsonl } from '../io/jsonl.ts'
import { isFile } from '../io/path-kind.ts'
import { type PriceTable, price } from '../models/price-table.ts'

export interface CostFacts {
  readonly model: string
  readonly prices: PriceTable
}

/** The cost that the agent reported, else the cost of its tokens by the price table. Unknown stays unknown. */
export function agentCostUsd(
  facts: CostFacts,
  outcome: AgentOutcome,
  usage: readonly ModelUsage[],
): number | null {
  return outcome.costUsd ?? sumOf(pricedUsage(facts, usage)) ?? byPlannedModel(facts, outcome)
}

/** Prices the rows without a cost by their tokens. */
export function pricedUsage(
  { prices }: Pick<CostFacts, 'prices'>,
  usage: readonly ModelUsage[],
): ModelUsage[] {
  return usage.map((row) => ({ ...row, costUsd: row.costUsd ?? price(row.model, row.tokens, prices) }))
}

/** What a killed attempt had reported, by its log of events. Empty: nothing was paid, or nothing is known. */
export async function begunUsage(
  events: string,
  facts: Pick<CostFacts, 'prices'>,
): Promise<readonly ModelUsage[]> {
  if (!isFile(events)) return []
  const usage = foldUsageByModel()
  for await (const event of readJsonl<GantryEvent>(events)) usage.add(event)
  return pricedUsage(facts, usage.finish())
}

/** A sum with an unknown part is unknown. */
function sumOf(usage: readonly ModelUsage[]): number | null {
  if (usage.length === 0) return null
  return usage.reduce<number | null>((sum, { costUsd }) => addCost(sum, costUsd), 0)
}

/** For an agent that does not report the model of its tokens. */
function byPlannedModel({ model, prices }: CostFacts, { tokens }: AgentOutcome): number | null {
  return tokens === null ? null : price(model, tokens, prices)
}
