import { addCost } from '../../core/add-cost.ts'
import { settled } from '../../core/case-tally.ts'
import type { GateResult } from '../../core/trial.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { Execution, PluginTranscript, PluginTrial } from '../execute/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { analyzeConflict } from './analyze-conflict.ts'
import {
  confidences,
  type Detection,
  type ModelUse,
  type PluginJudgement,
  type TrialEvaluation,
} from './contract.ts'
import { ambiguityOf, decideTrigger } from './decide-trigger.ts'
import { detectFirings, firstOfEach, sentMessages } from './detection/detect-components.ts'
import type { KnownComponent, KnownComponents } from './detection/known-components.ts'
import { detectionOf, foundKnown } from './detection/resolve-name.ts'
import { expectedComponent, isOf } from './expected-component.ts'
import { leaksOf, remarks } from './remarks.ts'
import { type GraderGate, graderScore, trialVerdict } from './trial-verdict.ts'
import { triggerReason } from './trigger-reason.ts'

export interface TrialInput {
  readonly scenario: PluginScenario
  readonly trial: PluginTrial
  readonly execution: Execution
  readonly transcript: PluginTranscript | null
  readonly known: KnownComponents
  readonly config: Pick<PluginConfig, 'evaluation' | 'conflict_detection' | 'tuning'>
  /** null: no judge. */
  readonly judgement: PluginJudgement | null
  readonly graderGates: readonly GraderGate[]
  /** What the graders cost; null = unmetered. */
  readonly graderCostUsd?: number | null
  readonly graderUsage?: ModelUse
}

/** Evaluates a trial from its traces. Pure: the same traces always give the same evaluation. */
export function evaluateTrial(input: TrialInput): TrialEvaluation {
  const { scenario, trial, execution, transcript, known, config, judgement, graderGates } = input
  const { graderCostUsd = 0 } = input
  const resolved = expectedComponent(scenario, known)
  const expected = resolved === 'unknown' ? null : resolved
  const firings = detectFirings(execution, transcript, known, sentMessages(scenario))
  const seen = firstOfEach(firings)
  const ambiguity = ambiguityOf({ scenario, execution, transcript, known, detections: seen })
  const decision = decideTrigger({
    // Without the plugin there is nothing to judge.
    mode: trial.arm === 'without' ? 'programmatic_first' : config.evaluation.detection_mode,
    detection: expected === null ? undefined : seen.find((one) => isOf(one, expected)),
    ambiguity,
    judgement,
  })
  const triggered = expected !== null && decision?.triggered === true
  const detections = withJudge(seen, expected, triggered, judgement)
  const conflict = analyzeConflict(scenario, detections, {
    expected: trial.arm === 'without' ? null : expected,
    conflict_detection: config.conflict_detection,
    domainPartMin: config.tuning.limits.conflict_domain_part_min,
    ...(ambiguity?.kind === 'shared_name' && { sharedName: ambiguity.message }),
  })
  const story = {
    scenario,
    triggered,
    detections,
    execution,
    transcript,
    known,
    by: decision?.detection_source,
  }
  const triggerGate =
    expected === null || trial.arm === 'without'
      ? null
      : gateOf(triggerReason({ ...story, expected }), expected, input, triggered)
  const { reason, ...outcome } = trialVerdict({
    scenario,
    execution,
    expected: resolved,
    leaked: trial.arm === 'without' ? leaksOf(detections, known) : [],
    triggered: decision === null ? null : triggered,
    triggerGate,
    graders: graderGates,
  })
  const evaluationCost = addCost(judgement === null ? 0 : judgement.cost_usd, graderCostUsd)
  const notes = remarks({ expected, detections, firings, execution, judgement, ambiguity, decision })
  return {
    trial,
    ...scenarioFacts(scenario),
    triggered,
    confidence: decision?.confidence ?? confidences.llm,
    detection_source: decision?.detection_source ?? 'llm',
    detections,
    conflict,
    quality_score: qualityOf(judgement, triggerGate?.passed === true && triggered),
    judgement,
    gates: [...(triggerGate === null ? [] : [triggerGate]), ...graderGates.map(({ gate }) => gate)],
    grader_score: graderScore(graderGates),
    ...outcome,
    reason,
    evidence: notes.evidence,
    issues: notes.issues,
    summary: judgement !== null && judgement.summary !== '' ? judgement.summary : reason,
    cost_usd: execution.cost_usd,
    evaluation_cost_usd: evaluationCost === null ? null : settled(evaluationCost),
    ...(input.graderUsage !== undefined && { grader_usage: input.graderUsage }),
    duration_ms: execution.duration_ms,
    tokens: execution.tokens,
  }
}

/** What an evaluation repeats of its scenario. */
export function scenarioFacts(scenario: PluginScenario) {
  const { id, component_type, expected_component, scenario_type, expected_trigger } = scenario
  const { semantic_variation_type } = scenario
  return {
    scenario_id: id,
    component_type,
    expected_component,
    scenario_type,
    ...(semantic_variation_type !== undefined && { semantic_variation_type }),
    expected_trigger,
  }
}

function gateOf(
  message: string,
  expected: KnownComponent,
  { scenario }: TrialInput,
  triggered: boolean,
): GateResult {
  return {
    type: 'component_triggered',
    passed: triggered === scenario.expected_trigger,
    message,
    detail: {
      component: `${expected.type}:${expected.name}`,
      expected_trigger: scenario.expected_trigger,
      triggered,
    },
  }
}

/** A judge's decision is also a detection when no trace shows the component. With `llm_only` it overrides the traces. */
function withJudge(
  seen: readonly Detection[],
  expected: KnownComponent | null,
  triggered: boolean,
  judgement: PluginJudgement | null,
): readonly Detection[] {
  if (expected === null || !triggered || judgement === null || seen.some((one) => isOf(one, expected)))
    return seen
  const timestamp = seen.at(-1)?.timestamp ?? 0
  const evidence = `the judge ${judgement.model} says that it fired`
  return [...seen, detectionOf(foundKnown(expected), { source: 'llm', evidence, timestamp })]
}

/** The score of an unjudged trial that triggered correctly, on the judge's scale of ten. */
const unjudgedQuality = 7

/** A judge that failed leaves no score: an invented one would change the averages. */
function qualityOf(judgement: PluginJudgement | null, triggeredRightly: boolean): number | null {
  if (judgement !== null) return judgement.quality_score
  return triggeredRightly ? unjudgedQuality : null
}
