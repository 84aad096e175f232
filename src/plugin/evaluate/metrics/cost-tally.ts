import { settled } from '../../../core/case-tally.ts'
import { addTokens, noTokens, type TokenUsage } from '../../../core/trial.ts'
import { type PriceTable, price } from '../../../models/pricing.ts'
import type { Execution } from '../../execute/contract.ts'
import type { TrialEvaluation } from '../contract.ts'
import type { CacheStats, CostSummary, ModelCost } from './evaluation-summary.ts'

/** What was paid outside of trials. */
export interface OtherCosts {
  /** null = unmetered. */
  readonly generation_cost_usd?: number | null
  readonly plugin_load_cost_usd?: number
  /** For trials that ran again, and attempts that were cut off. */
  readonly lost_cost_usd?: number
}

/** Cost and tokens over all trials, including those that failed for infrastructure reasons. */
export interface CostTally {
  add(evaluation: TrialEvaluation, execution: Pick<Execution, 'model_usage' | 'api_duration_ms'> | null): void
  finish(other: OtherCosts, scenarios: number): CostSummary
}

interface ModelTally {
  tokens: TokenUsage | null
  costUsd: number | null
  trials: number
}

export function createCostTally(): CostTally {
  const models = new Map<string, ModelTally>()
  let executionUsd = 0
  let evaluationUsd = 0
  let unmeteredTrials = 0
  let apiDurationMs = 0

  const addModel = (
    stage: ModelCost['stage'],
    model: string,
    tokens: TokenUsage | null,
    costUsd: number | null,
  ) => {
    const key = JSON.stringify([stage, model])
    const tally = models.get(key) ?? { tokens: null, costUsd: null, trials: 0 }
    if (tokens !== null) tally.tokens = addTokens(tally.tokens ?? noTokens, tokens)
    if (costUsd !== null) tally.costUsd = (tally.costUsd ?? 0) + costUsd
    tally.trials += 1
    models.set(key, tally)
  }

  return {
    add: (evaluation, execution) => {
      const { cost_usd, evaluation_cost_usd, judgement } = evaluation
      executionUsd += cost_usd ?? 0
      evaluationUsd += evaluation_cost_usd ?? 0
      if (cost_usd === null || evaluation_cost_usd === null) unmeteredTrials += 1
      apiDurationMs += execution?.api_duration_ms ?? 0
      for (const { model, tokens, costUsd } of execution?.model_usage ?? [])
        addModel('execution', model, tokens, costUsd)
      if (judgement !== null) addModel('evaluation', judgement.model, null, judgement.cost_usd)
    },
    finish: ({ generation_cost_usd = 0, plugin_load_cost_usd = 0, lost_cost_usd = 0 }, scenarios) => {
      const execution_cost_usd = settled(executionUsd + plugin_load_cost_usd + lost_cost_usd)
      const total = settled((generation_cost_usd ?? 0) + execution_cost_usd + evaluationUsd)
      return {
        total_cost_usd: total,
        avg_cost_per_scenario: scenarios === 0 ? null : settled(total / scenarios),
        generation_cost_usd,
        execution_cost_usd,
        plugin_load_cost_usd,
        lost_cost_usd: settled(lost_cost_usd),
        evaluation_cost_usd: settled(evaluationUsd),
        unmetered_trials: unmeteredTrials,
        total_api_duration_ms: settled(apiDurationMs),
        by_model: [...models]
          .toSorted(([a], [b]) => (a < b ? 1 : -1))
          .map(([key, tally]) => modelCost(key, tally)),
      }
    },
  }
}

function modelCost(key: string, { tokens, costUsd, trials }: ModelTally): ModelCost {
  const [stage, model]: [ModelCost['stage'], string] = JSON.parse(key)
  return { model, stage, tokens, cost_usd: costUsd === null ? null : settled(costUsd), trials }
}

/** How much of the agents' input came from a cache, and what that saved. */
export function cacheStats(models: readonly ModelCost[], prices: PriceTable): CacheStats {
  const used = models.flatMap(({ model, tokens }) => (tokens === null ? [] : [{ model, tokens }]))
  const { input, cacheRead, cacheWrite } = used.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens)
  const allInput = input + cacheRead + cacheWrite
  let savingsUsd: number | null = 0
  for (const { model, tokens } of used) {
    if (tokens.cacheRead + tokens.cacheWrite === 0) continue
    const plain = price(model, { ...noTokens, input: tokens.cacheRead + tokens.cacheWrite }, prices)
    const paid = price(
      model,
      { ...noTokens, cacheRead: tokens.cacheRead, cacheWrite: tokens.cacheWrite },
      prices,
    )
    savingsUsd = plain === null || paid === null || savingsUsd === null ? null : savingsUsd + plain - paid
  }
  return {
    cache_read_tokens: cacheRead,
    cache_creation_tokens: cacheWrite,
    input_tokens: allInput,
    hit_rate: allInput === 0 ? null : settled(cacheRead / allInput),
    savings_usd: savingsUsd === null ? null : settled(savingsUsd),
  }
}
