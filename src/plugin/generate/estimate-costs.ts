import { addCost } from '../../core/add-cost.ts'
import { builtInPrices } from '../../models/prices.ts'
import { type PriceTable, price } from '../../models/pricing.ts'
import type { Analysis } from '../analyze/contract.ts'
import type { AnyComponent } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { PluginStage } from '../contract.ts'
import { answerShape } from './answer-schema.ts'
import { generationSystem } from './component-prompt.ts'
import { fallbackComponent } from './fallback-scenarios.ts'
import { answerTokens, componentsInScope, planComponent, plannedPrompts } from './plan-component.ts'
import { templateComponent } from './template-component.ts'

type PaidStage = Exclude<PluginStage, 'analysis'>

/** What an evaluation would cost, before it costs anything. */
export interface CostEstimate {
  readonly stages: readonly StageEstimate[]
  /** Scenarios, and trials of them: arms and repetitions multiply. */
  readonly scenarios: number
  readonly trials: number
  /** null: the price of a model is unknown. */
  readonly total_estimated_cost_usd: number | null
  /** Of the stages whose price is known. */
  readonly known_cost_usd: number
  /** false: what is known is above the budget already. */
  readonly within_budget: boolean
  /** Of the known cost; below zero when it is not enough. */
  readonly budget_remaining_usd: number
  /** Models of unknown price. They are not free; their cost is unknown. */
  readonly unmetered_models: readonly string[]
}

export interface StageEstimate {
  readonly stage: PaidStage
  /** null: no model is called. */
  readonly model: string | null
  readonly input_tokens: number
  readonly estimated_output_tokens: number
  /** null = unmetered. */
  readonly estimated_cost_usd: number | null
  /** At half the price. */
  readonly is_batched?: boolean
}

export interface EstimateOptions {
  /** The user's; they win over the built-in ones. */
  readonly prices: PriceTable
  /** When it is known; else it is estimated. */
  readonly scenarioCount?: number
  /** Judge calls may be sent in batches, when there are enough of them. */
  readonly batchedJudge: boolean
  readonly armCount: number
  /** The models that would be called, with `default` and aliases resolved. null: not available. Default: as configured. */
  readonly models?: Partial<Readonly<Record<PaidStage, string | null>>>
}

export function estimateCosts(
  analysis: Pick<Analysis, 'components' | 'findings' | 'plugin_load_result'>,
  config: PluginConfig,
  options: EstimateOptions,
): CostEstimate {
  const { armCount, batchedJudge, models = {} } = options
  const estimates = config.tuning.token_estimates
  const named = (stage: PaidStage): string | null => {
    const model = models[stage]
    return model === undefined ? config[stage].model : model
  }
  const counted = countGeneration(analysis, config, { isAsked: named('generation') !== null })
  const scenarios = options.scenarioCount ?? counted.scenarios
  const trials = scenarios * config.execution.num_reps * armCount
  const turns = trials * config.execution.max_turns
  const judgements = named('evaluation') === null ? 0 : trials * config.evaluation.num_samples
  const stages = [
    stageEstimate(options.prices, {
      stage: 'generation',
      model: named('generation'),
      input_tokens: counted.inputTokens,
      estimated_output_tokens: counted.outputTokens,
    }),
    stageEstimate(options.prices, {
      stage: 'execution',
      model: named('execution'),
      input_tokens: turns * estimates.input_per_turn + Math.round(trials * counted.componentTokens),
      estimated_output_tokens: turns * estimates.output_per_turn,
    }),
    stageEstimate(options.prices, {
      stage: 'evaluation',
      model: named('evaluation'),
      input_tokens: judgements * estimates.transcript_prompt,
      estimated_output_tokens: judgements * estimates.judge_output,
      ...(batchedJudge && judgements >= config.batch_threshold && { is_batched: true }),
    }),
  ]
  const known = stages.reduce((sum, { estimated_cost_usd: cost }) => sum + (cost ?? 0), 0)
  const budget = config.execution.max_budget_usd
  return {
    stages,
    scenarios,
    trials,
    total_estimated_cost_usd: stages.reduce<number | null>(
      (sum, { estimated_cost_usd: cost }) => addCost(sum, cost),
      0,
    ),
    known_cost_usd: known,
    within_budget: known <= budget,
    budget_remaining_usd: budget - known,
    unmetered_models: [
      ...new Set(
        stages.flatMap(({ model, estimated_cost_usd: cost }) =>
          cost === null && model !== null ? [model] : [],
        ),
      ),
    ],
  }
}

/** A stage without calls costs nothing, whatever its model. */
function stageEstimate(prices: PriceTable, stage: Omit<StageEstimate, 'estimated_cost_usd'>): StageEstimate {
  const { model, input_tokens: input, estimated_output_tokens: output, is_batched } = stage
  const tokens = { input, output, cacheRead: 0, cacheWrite: 0 }
  const isFree = model === null || input + output === 0
  const full = isFree ? 0 : (price(model, tokens, prices) ?? price(model, tokens, builtInPrices))
  return { ...stage, estimated_cost_usd: full === null ? null : is_batched === true ? full / 2 : full }
}

interface GenerationCount {
  readonly scenarios: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** What the component itself adds to a scenario, on average. */
  readonly componentTokens: number
}

/** The size of stage 2. Prompts and templates are really built and counted. */
function countGeneration(
  analysis: Pick<Analysis, 'components' | 'findings' | 'plugin_load_result'>,
  config: PluginConfig,
  { isAsked }: { readonly isAsked: boolean },
): GenerationCount {
  const { token_estimates: estimates } = config.tuning
  const count = { scenarios: 0, inputTokens: 0, outputTokens: 0, componentTokens: 0 }
  const add = (entry: AnyComponent, scenarios: number): void => {
    count.scenarios += scenarios
    count.componentTokens += scenarios * perComponent(entry, estimates)
  }
  for (const entry of componentsInScope(analysis.components, config.scope)) {
    const ready = templateComponent(entry, analysis, config)
    if (ready !== null) add(entry, ready.scenarios.length)
    else if (entry.type === 'skill' || entry.type === 'agent') {
      const plan = planComponent(entry, analysis, config)
      add(entry, isAsked ? plan.slots.length : fallbackComponent(plan).scenarios.length)
      if (!isAsked) continue
      for (const prompt of plannedPrompts(plan)) count.inputTokens += everyQuestion + countTokens(prompt)
      count.outputTokens += answerTokens(plan.slots, estimates)
    }
  }
  return { ...count, componentTokens: count.scenarios === 0 ? 0 : count.componentTokens / count.scenarios }
}

/** The part that all requests share. */
const everyQuestion = countTokens(generationSystem, answerShape)

function perComponent({ type }: AnyComponent, estimates: PluginConfig['tuning']['token_estimates']): number {
  switch (type) {
    case 'skill':
      return estimates.per_skill
    case 'agent':
      return estimates.per_agent
    case 'command':
      return estimates.per_command
    case 'hook':
      return estimates.per_hook
    case 'mcp_server':
      return estimates.per_mcp_server
  }
}

/** An estimate: four bytes per token. */
function countTokens(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0)
}
