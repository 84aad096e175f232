import type { Project } from '../../config/load.ts'
import { addCost } from '../../core/add-cost.ts'
import { noTokens, type TokenUsage } from '../../core/trial.ts'
import { hasCostLimit } from '../../model-link/choose-model-link.ts'
import { type PriceTable, price } from '../../models/price-table.ts'
import { builtInPrices } from '../../models/prices.ts'
import { selectModel } from '../../models/select-model.ts'
import type { Store } from '../../store/contract.ts'
import { listRuns } from '../../store/list-runs.ts'
import type { Analysis } from '../analyze/contract.ts'
import { isPaid } from '../cases/grade/paid-graders.ts'
import { componentId } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { expectedAgentModel } from '../config/model-names.ts'
import { type Arm, type PluginStage, stages as stageOrder } from '../contract.ts'
import { planTrials } from '../execute/plan-trials.ts'
import { answerShape } from '../generate/answer-schema.ts'
import { generationSystem } from '../generate/component-prompt.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { ScenarioPlan } from '../generate/generate-scenarios.ts'
import { answerTokens, plannedPrompts } from '../generate/plan-component.ts'
import { evaluationFiles, readEvaluationHead } from './evaluation-files.ts'
import type { EvaluationRequest } from './evaluation-work.ts'
import { planEvaluation } from './run-generation.ts'

type PaidStage = Exclude<PluginStage, 'analysis'>

export type CostEstimate = ReturnType<typeof estimateCosts>
export type StageEstimate = ReturnType<typeof stageEstimate>

export interface EstimateOptions {
  /** Prices set by the user; they override the built-in ones. */
  readonly prices: PriceTable
  readonly arms: readonly Arm[]
  readonly until: PluginStage
  /** The models that would be called. null: not available. */
  readonly models: Readonly<Record<PaidStage, string | null>>
  /** What a trial of each arm cost in an earlier run; null when there was none. */
  readonly earlierUsd?: ((arm: Arm) => number | null) | undefined
  /** What the plugin adds to Claude Code's list of skills and commands. Default 0. */
  readonly listingTokens?: number
  /** A scripted model and a strict replay cost nothing. Default: no stage is free. */
  readonly isFree?: (stage: PaidStage) => boolean
}

/** The estimate for a plan. Prompts of the generation are built and counted; the rest is known from what Claude Code sends. */
export function estimateCosts(plan: ScenarioPlan, config: PluginConfig, options: EstimateOptions) {
  const stages = [generationCount, executionCount, evaluationCount]
    .map((count) => count(plan, config, options))
    .filter(({ stage }) => stageOrder.indexOf(stage) <= stageOrder.indexOf(options.until))
    .map((count) => stageEstimate(count, options))
  const costs = stages.map(({ estimated_cost_usd: cost }) => cost)
  const known = costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0)
  const budgetUsd = config.execution.max_budget_usd
  const unmetered = stages.flatMap(({ model, estimated_cost_usd: cost }) =>
    cost === null && model !== null ? [model] : [],
  )
  return {
    stages,
    /** Scenarios, and trials of them: arms and repetitions multiply. Exactly those that would run. */
    scenarios: plan.scenarios.length,
    trials: planTrials(plan.scenarios, config, options.arms).length,
    /** null: the price of a model is unknown. */
    total_estimated_cost_usd: costs.reduce(addCost, 0),
    /** Of the stages whose price is known. */
    known_cost_usd: known,
    within_budget: known <= budgetUsd,
    /** Negative when the budget is too small. */
    budget_remaining_usd: budgetUsd - known,
    /** Models of unknown price. They are not free; their cost is unknown. */
    unmetered_models: [...new Set(unmetered)],
  }
}

interface StageCount {
  readonly stage: PaidStage
  readonly requests: number
  readonly tokens: TokenUsage
  readonly isBatched?: boolean
  readonly earlier?: { readonly trialUsd: number; readonly totalUsd: number }
}

/** A stage without calls costs nothing. */
function stageEstimate(count: StageCount, { prices, models, isFree }: EstimateOptions) {
  const { stage, requests, tokens, isBatched = false, earlier } = count
  const model = models[stage]
  // The price of a request may depend on its length.
  const each = {
    input: tokens.input / requests,
    output: tokens.output / requests,
    cacheRead: tokens.cacheRead / requests,
    cacheWrite: tokens.cacheWrite / requests,
  }
  const cost = (): number | null => {
    if (model === null || requests === 0 || isFree?.(stage)) return 0
    if (earlier !== undefined) return earlier.totalUsd
    const one = price(model, each, prices) ?? price(model, each, builtInPrices)
    return one === null ? null : (one * requests) / (isBatched ? 2 : 1)
  }
  return {
    stage,
    /** null: no model is called. */
    model,
    requests,
    /** All of them, with those read from a cache. */
    input_tokens: tokens.input + tokens.cacheRead + tokens.cacheWrite,
    cached_input_tokens: tokens.cacheRead,
    estimated_output_tokens: tokens.output,
    /** null = unmetered. */
    estimated_cost_usd: cost(),
    /** At half the price. */
    ...(isBatched && { is_batched: true }),
    /** What a trial cost in an earlier run of the plugin; the tokens are not used then. */
    ...(earlier !== undefined && { earlier_trial_cost_usd: earlier.trialUsd }),
  }
}

function generationCount(
  { components }: ScenarioPlan,
  { tuning }: PluginConfig,
  { models: { generation } }: EstimateOptions,
): StageCount {
  const asked = components.flatMap(({ plan, ready, isWanted }) =>
    plan === null || ready !== null || !isWanted || generation === null ? [] : [plan],
  )
  const prompts = asked.flatMap(plannedPrompts)
  const output = asked.reduce((sum, { slots }) => sum + answerTokens(slots, tuning.token_estimates), 0)
  const input = prompts.reduce((sum, prompt) => sum + everyQuestion + countTokens(prompt), 0)
  return { stage: 'generation', requests: prompts.length, tokens: { ...noTokens, input, output } }
}

/** The part that all requests share. */
const everyQuestion = countTokens(generationSystem, answerShape)

/** What Claude Code 2.1.325 sends with every request besides the conversation: 46 KB of instructions and tools. */
const agentPromptTokens = 12_000
/** The part of it that differs between processes, such as their directories. */
const processPromptTokens = 1_700
/** The part of it that comes after the user's message, so that no other trial reads it from the cache: what is listed, reminders. */
const trialPromptTokens = 2_800

/** A component that the model chooses takes one request in which it decides, and one in which it answers. */
function usualRequests({ expected_trigger: fires, user_prompt: prompt }: PluginScenario): number {
  return fires && !prompt.startsWith('/') ? 2 : 1
}

function executionCount(
  { scenarios }: ScenarioPlan,
  config: PluginConfig,
  { arms, earlierUsd, listingTokens = 0 }: EstimateOptions,
): StageCount {
  const { execution, tuning } = config
  const { token_estimates: estimates } = tuning
  const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  const trials = planTrials(scenarios, config, arms)
  const processes = new Set<string>()
  const sum = { requests: 0, components: 0, sent: 0, cacheWrite: 0 }
  for (const trial of trials) {
    const scenario = byId.get(trial.scenario_id)
    if (scenario === undefined) continue
    const requests = Math.min(scenario.case?.max_turns ?? execution.max_turns, usualRequests(scenario))
    const listed = trial.arm === 'without' ? 0 : listingTokens
    sum.requests += requests
    sum.sent += requests * (agentPromptTokens + listed)
    sum.cacheWrite += trialPromptTokens + listed
    if (scenario.component_ref !== '') sum.components += estimates[`per_${scenario.component_type}`]
    const component = componentId(scenario.component_type, scenario.component_ref)
    processes.add(execution.session_strategy === 'isolated' ? trial.id : `${trial.arm} ${component}`)
  }
  const shared = agentPromptTokens - trialPromptTokens - processPromptTokens
  const cacheWrite = trials.length === 0 ? 0 : shared + processes.size * processPromptTokens + sum.cacheWrite
  const costs = trials.map(({ arm }) => earlierUsd?.(arm) ?? null)
  const totalUsd = costs.reduce(addCost, 0)
  return {
    stage: 'execution',
    requests: sum.requests,
    tokens: {
      input: sum.requests * estimates.input_per_turn + sum.components,
      output: sum.requests * estimates.output_per_turn,
      // The first request writes the cache that the others read.
      cacheWrite,
      cacheRead: sum.sent - cacheWrite,
    },
    ...(totalUsd !== null &&
      trials.length > 0 && { earlier: { totalUsd, trialUsd: totalUsd / trials.length } }),
  }
}

/** The traces of most trials are clear, and only the others are judged. */
const ambiguousShare = 0.1
/** A grader that asks a model takes this many votes. */
const graderVotes = 3

function evaluationCount(
  { scenarios }: ScenarioPlan,
  config: PluginConfig,
  { arms, models }: EstimateOptions,
): StageCount {
  const { evaluation, tuning, batch_threshold, force_synchronous } = config
  const { transcript_prompt, judge_output } = tuning.token_estimates
  const about = scenarios.filter(({ component_ref: component }) => component !== '')
  const judged = planTrials(about, config, arms).filter(({ arm }) => arm !== 'without').length
  const share = evaluation.detection_mode === 'llm_only' ? 1 : ambiguousShare
  const judgements = Math.ceil(judged * share) * evaluation.num_samples
  const graded = scenarios.reduce((sum, scenario) => {
    const paid = scenario.case?.graders.filter(isPaid).length ?? 0
    return sum + paid * graderVotes * planTrials([scenario], config, arms).length
  }, 0)
  const requests = models.evaluation === null ? 0 : judgements + graded
  return {
    stage: 'evaluation',
    requests,
    tokens: { ...noTokens, input: requests * transcript_prompt, output: requests * judge_output },
    isBatched: !force_synchronous && judgements >= batch_threshold && models.evaluation !== null,
  }
}

/** An estimate: four bytes per token. */
function countTokens(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0)
}

/** What the trials of each arm cost in the newest run of the same plugin, agent and model that paid for them. */
export async function earlierTrialCosts(
  store: Store,
  pluginName: string,
  { agent, model }: Pick<PluginConfig['execution'], 'agent' | 'model'>,
): Promise<(arm: Arm) => number | null> {
  const { runs } = await listRuns(store, { kind: 'plugin' })
  for (const { dir } of runs.filter(({ title }) => title === pluginName).slice(0, mostRuns)) {
    const head = readEvaluationHead(evaluationFiles(dir))
    if (head === null || head.agent !== agent || head.model !== model) continue
    const arms = Object.entries(head.summary.by_arm).flatMap(([arm, { cost_usd: usd, verdicts }]) => {
      const trials = Object.values(verdicts).reduce((sum, count) => sum + count, 0)
      return usd > 0 && trials > 0 ? [[arm, usd / trials] as const] : []
    })
    const known = new Map<string, number>(arms)
    const [any = null] = known.values()
    if (any !== null) return (arm) => known.get(arm) ?? any
  }
  return () => null
}

/** Older ones say little about the plugin of today. */
const mostRuns = 10

export interface EstimatedRun {
  readonly analysis: Analysis
  /** The scenarios of --fast; null when they are generated. */
  readonly fast: readonly PluginScenario[] | null
  /** The model that the agent has reported; absent before it was started. */
  readonly agentModel?: string | undefined
  readonly earlierUsd?: EstimateOptions['earlierUsd']
}

/** The estimate of what a request would really pay: a scripted model and a strict replay cost nothing. */
export async function paidEstimate(
  { analysis, fast, agentModel, earlierUsd }: EstimatedRun,
  request: EvaluationRequest,
  project: Pick<Project, 'config'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CostEstimate> {
  const { config, target, until, replay } = request
  const { generation, execution, evaluation } = config
  const asked = (model: string): string | null => (model === 'default' ? selectModel(env) : model)
  const models = {
    generation: asked(generation.model),
    execution: `anthropic:${(agentModel ?? expectedAgentModel(execution.model, execution.env)).replace(/\[[^\]]*\]$/, '')}`,
    evaluation: asked(evaluation.model),
  }
  const plan = await planEvaluation(request, analysis, { fast, hasModel: models.generation !== null })
  const agent = project.config.agents[execution.agent]
  const isScripted = agent !== undefined && 'model_script' in agent && agent.model_script !== undefined
  const meter = agent !== undefined && 'meter' in agent ? agent.meter : 'auto'
  const isFree = (stage: PaidStage): boolean =>
    stage === 'execution'
      ? !hasCostLimit({ source: { kind: isScripted ? 'script' : 'provider' }, replay }, meter)
      : replay === 'strict' || models[stage]?.startsWith('scripted:') === true
  const prices = project.config.models
  const { used_characters: used, reserved_characters: reserved = 0 } = analysis.listing
  const listingTokens = Math.ceil(Math.max(0, used - reserved) / 4)
  const arms = target.arms
  return estimateCosts(plan, config, { prices, arms, until, models, earlierUsd, listingTokens, isFree })
}
