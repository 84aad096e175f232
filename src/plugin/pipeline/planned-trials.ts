import type { PluginTrial } from '../execute/contract.ts'
import { planTrials } from '../execute/plan-trials.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { EvaluationRequest } from './evaluation-work.ts'

/** Every trial of a run, the same at every call: what is asked for does not change while it goes on. */
export function plannedTrials(
  scenarios: readonly PluginScenario[],
  { config, target }: Pick<EvaluationRequest, 'config' | 'target'>,
): readonly PluginTrial[] {
  return planTrials(scenarios, config, target.arms)
}
