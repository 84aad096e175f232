import type { PluginConfig } from '../../../config/plugin-schema.ts'
import { expectedComponent } from '../expected-component.ts'
import { type AmbiguityInput, isAmbiguous } from '../is-ambiguous.ts'

/**
 * Whether a judge is asked about a trial: with `llm_only` about each that has something to judge, else where the traces do not
 * settle whether the expected component fired. Never about a trial that did not happen, nor about the arm without the plugin.
 */
export function needsJudge(input: AmbiguityInput, { evaluation }: Pick<PluginConfig, 'evaluation'>): boolean {
  const { scenario, execution, transcript, known } = input
  if (transcript === null || execution.failure !== undefined || execution.invalid !== undefined) return false
  if (execution.trial.arm === 'without') return false
  const expected = expectedComponent(scenario, known)
  if (expected === null || expected === 'unknown') return false
  return evaluation.detection_mode === 'llm_only' || isAmbiguous(input)
}
