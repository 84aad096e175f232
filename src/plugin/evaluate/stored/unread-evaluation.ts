import type { Execution, PluginTrial } from '../../execute/contract.ts'
import type { PluginScenario } from '../../generate/contract.ts'
import type { TrialEvaluation } from '../contract.ts'

/** A trial whose traces cannot be read: it says nothing, and is to be made again. What it cost is still known when its execution is. */
export function unreadEvaluation(
  scenario: PluginScenario,
  trial: PluginTrial,
  why: string,
  execution: Execution | null,
): TrialEvaluation {
  const reason = `${why}; make trial ${trial.id} again`
  return {
    trial,
    scenario_id: scenario.id,
    component_type: scenario.component_type,
    expected_component: scenario.expected_component,
    scenario_type: scenario.scenario_type,
    ...(scenario.semantic_variation_type !== undefined && {
      semantic_variation_type: scenario.semantic_variation_type,
    }),
    expected_trigger: scenario.expected_trigger,
    triggered: false,
    confidence: 0,
    detection_source: 'programmatic',
    detections: [],
    conflict: {
      expected_component: scenario.expected_component,
      expected_component_type: scenario.component_type,
      all_triggered_components: [],
      has_conflict: false,
      conflict_severity: 'none',
    },
    quality_score: null,
    judgement: null,
    gates: [],
    grader_score: null,
    verdict: 'invalid',
    reason,
    evidence: [],
    issues: [],
    summary: reason,
    cost_usd: execution?.cost_usd ?? null,
    evaluation_cost_usd: 0,
    duration_ms: execution?.duration_ms ?? 0,
    tokens: execution?.tokens ?? null,
  }
}
