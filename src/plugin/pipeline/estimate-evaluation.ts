import type { Project } from '../../config/load.ts'
import { isOffline } from '../../models/boundary/model-link.ts'
import { defaultModels, selectModel } from '../../models/select-model.ts'
import type { Analysis } from '../analyze/contract.ts'
import { type CostEstimate, estimateCosts } from '../generate/estimate-costs.ts'
import type { EvaluationRequest } from './evaluation-work.ts'

/** What the stages that call models would cost. When the agent chooses its model itself, the price of the default model is used. */
export function estimateEvaluation(
  analysis: Analysis,
  { config, target }: Pick<EvaluationRequest, 'config' | 'target'>,
  project: Pick<Project, 'config'>,
  env: Readonly<Record<string, string | undefined>>,
): CostEstimate {
  const asked = (model: string): string | null => (model === 'default' ? selectModel(env) : model)
  const { generation, execution, evaluation } = config
  return estimateCosts(analysis, config, {
    prices: project.config.models,
    batchedJudge: !config.force_synchronous,
    armCount: target.arms.length,
    models: {
      generation: asked(generation.model),
      execution: `anthropic:${execution.model === 'default' ? defaultModels.anthropic : execution.model}`,
      evaluation: asked(evaluation.model),
    },
  })
}

/** The estimate as it will be paid: a scripted model costs nothing, and neither does a strict replay. */
export function paidEstimate(
  analysis: Analysis,
  request: EvaluationRequest,
  project: Pick<Project, 'config'>,
  env: Readonly<Record<string, string | undefined>>,
): CostEstimate {
  const estimate = estimateEvaluation(analysis, request, project, env)
  const { execution } = request.config
  const agent = project.config.agents[execution.agent]
  const isScripted = agent !== undefined && 'model_script' in agent && agent.model_script !== undefined
  const stages = estimate.stages.map((stage) =>
    isOffline({
      source: { kind: isScripted && stage.stage === 'execution' ? 'script' : 'provider' },
      replay: request.replay,
    })
      ? { ...stage, estimated_cost_usd: 0 }
      : stage,
  )
  const known = stages.reduce((sum, { estimated_cost_usd: cost }) => sum + (cost ?? 0), 0)
  const unmetered = stages.flatMap(({ model, estimated_cost_usd: cost }) =>
    cost === null && model !== null ? [model] : [],
  )
  return {
    ...estimate,
    stages,
    total_estimated_cost_usd: unmetered.length > 0 ? null : known,
    known_cost_usd: known,
    within_budget: known <= execution.max_budget_usd,
    budget_remaining_usd: execution.max_budget_usd - known,
    unmetered_models: [...new Set(unmetered)],
  }
}
