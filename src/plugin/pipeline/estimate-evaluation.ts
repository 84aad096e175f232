import type { Project } from '../../config/load.ts'
import { defaultModels, selectModel } from '../../models/select-model.ts'
import type { Analysis } from '../analyze/contract.ts'
import { type CostEstimate, estimateCosts } from '../generate/estimate-costs.ts'
import type { EvaluationRequest } from './evaluation-work.ts'

/**
 * What the stages that ask models would cost. Where the agent chooses its model itself, the price of the usual one is taken:
 * an estimate of nothing helps nobody.
 */
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
