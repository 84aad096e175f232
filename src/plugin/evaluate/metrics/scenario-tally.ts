import { isCounted } from '../../../core/verdict.ts'
import type { Arm, ComponentType } from '../../contract.ts'
import type { ScenarioType, SemanticVariation } from '../../generate/contract.ts'
import type { TrialEvaluation } from '../contract.ts'
import { askedComponent, nobody, otherFirings } from './fired-component.ts'
import { emptyMean, type MeanTally, withValue } from './mean-tally.ts'

/** All trials of one scenario in one arm, as counts: nothing of a trial is kept. */
export interface ScenarioTally {
  readonly scenario_id: string
  readonly arm: Arm
  readonly component_type: ComponentType
  readonly scenario_type: ScenarioType
  readonly semantic_variation_type: SemanticVariation | null
  readonly expected_trigger: boolean
  /** `skill:greet`; null when no counted trial asked for one. */
  component: string | null
  /** `pass` and `fail` only, here and below. */
  trials: number
  /** Trials that asked for something: a component or graders. */
  asked: number
  passed: number
  /** Trials that asked for a component. */
  triggerTrials: number
  triggered: number
  quality: MeanTally
  judgedQuality: MeanTally
  graderScore: MeanTally
  costUsd: MeanTally
  turns: MeanTally
  durationMs: MeanTally
  /** Who had the turn: the expected component, else the first other, else nobody. */
  readonly fired: Map<string, number>
  /** Everybody else who fired while the expected component stayed quiet. */
  readonly instead: Map<string, number>
}

export function createScenarioTally(evaluation: TrialEvaluation): ScenarioTally {
  return {
    scenario_id: evaluation.scenario_id,
    arm: evaluation.trial.arm,
    component_type: evaluation.component_type,
    scenario_type: evaluation.scenario_type,
    semantic_variation_type: evaluation.semantic_variation_type ?? null,
    expected_trigger: evaluation.expected_trigger,
    component: null,
    trials: 0,
    asked: 0,
    passed: 0,
    triggerTrials: 0,
    triggered: 0,
    quality: emptyMean,
    judgedQuality: emptyMean,
    graderScore: emptyMean,
    costUsd: emptyMean,
    turns: emptyMean,
    durationMs: emptyMean,
    fired: new Map(),
    instead: new Map(),
  }
}

/** Trials that did not really happen leave no trace here. */
export function addToScenario(
  tally: ScenarioTally,
  evaluation: TrialEvaluation,
  numTurns: number | null,
  ownPlugin: string,
): void {
  if (!isCounted(evaluation.verdict)) return
  tally.trials += 1
  if (evaluation.gates.length > 0) {
    tally.asked += 1
    if (evaluation.verdict === 'pass') tally.passed += 1
  }
  const { quality_score, judgement } = evaluation
  tally.quality = withValue(tally.quality, quality_score !== null && quality_score > 0 ? quality_score : null)
  tally.judgedQuality = withValue(tally.judgedQuality, judgement?.quality_score ?? null)
  tally.graderScore = withValue(tally.graderScore, evaluation.grader_score)
  tally.costUsd = withValue(tally.costUsd, evaluation.cost_usd)
  tally.turns = withValue(tally.turns, numTurns)
  tally.durationMs = withValue(tally.durationMs, evaluation.duration_ms)
  const component = askedComponent(evaluation)
  if (component !== null) addTrigger(tally, evaluation, component, ownPlugin)
}

function addTrigger(
  tally: ScenarioTally,
  evaluation: TrialEvaluation,
  component: string,
  ownPlugin: string,
): void {
  tally.component = component
  tally.triggerTrials += 1
  if (evaluation.triggered) tally.triggered += 1
  const others = otherFirings(evaluation, component, ownPlugin)
  count(tally.fired, evaluation.triggered ? component : (others[0] ?? nobody))
  if (!evaluation.triggered && evaluation.expected_trigger)
    for (const other of new Set(others)) count(tally.instead, other)
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
