import { settled } from '../../../core/case-tally.ts'
import { isCounted } from '../../../core/verdict.ts'
import type { Detection, TrialEvaluation } from '../contract.ts'
import { rivalsOf } from '../expected-component.ts'

export type ScenarioTally = ReturnType<typeof createScenarioTally>

/** All trials of one scenario in one arm, as counts. No trial is kept. */
export function createScenarioTally(evaluation: TrialEvaluation) {
  const { scenario_id, component_type, scenario_type, expected_trigger } = evaluation
  return {
    scenario_id,
    arm: evaluation.trial.arm,
    component_type,
    scenario_type,
    semantic_variation_type: evaluation.semantic_variation_type ?? null,
    expected_trigger,
    /** `skill:greet`; null when no counted trial expected one. */
    component: null as string | null,
    /** `pass` and `fail` only, here and below. */
    trials: 0,
    /** Trials with an expectation: a component or graders. */
    asked: 0,
    passed: 0,
    /** Trials that expected a component. */
    triggerTrials: 0,
    triggered: 0,
    quality: emptyMean,
    judgedQuality: emptyMean,
    graderScore: emptyMean,
    costUsd: emptyMean,
    turns: emptyMean,
    durationMs: emptyMean,
    /** What fired: the expected component, else the first other one, else `none`. */
    fired: new Map<string, number>(),
    /** The other components that fired while the expected one stayed quiet. */
    instead: new Map<string, number>(),
  }
}

/** Trials that are not counted are ignored. */
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

function addTrigger(tally: ScenarioTally, evaluation: TrialEvaluation, component: string, ownPlugin: string) {
  tally.component = component
  tally.triggerTrials += 1
  if (evaluation.triggered) tally.triggered += 1
  const others = otherFirings(evaluation, component, ownPlugin)
  count(tally.fired, evaluation.triggered ? component : (others[0] ?? noComponent))
  if (!evaluation.triggered && evaluation.expected_trigger)
    for (const other of new Set(others)) count(tally.instead, other)
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** A running mean that does not depend on the order of its values. */
interface MeanTally {
  readonly sum: number
  readonly n: number
}

const emptyMean: MeanTally = { sum: 0, n: 0 }

/** Ignores null and values that are not numbers: unknown is not zero. */
function withValue(tally: MeanTally, value: number | null): MeanTally {
  return value === null || !Number.isFinite(value) ? tally : { sum: tally.sum + value, n: tally.n + 1 }
}

export function joined(tallies: Iterable<MeanTally>): MeanTally {
  let [sum, n] = [0, 0]
  for (const tally of tallies) {
    sum += tally.sum
    n += tally.n
  }
  return { sum, n }
}

export function meanOf({ sum, n }: MeanTally): number | null {
  return n === 0 ? null : settled(sum / n)
}

/** The label when no component fired. */
export const noComponent = 'none'

/** The component that a trial expected, as `type:name`; null when it expected none. */
function askedComponent({ gates }: Pick<TrialEvaluation, 'gates'>): string | null {
  const [gate] = gates
  const component = gate?.type === 'component_triggered' ? gate.detail.component : undefined
  return typeof component === 'string' ? component : null
}

/**
 * `skill:greet` of the plugin under test, `other/skill:other:greet` of another plugin, `(built-in)/skill:dataviz` of Claude Code
 * itself, `(unknown)/…` of an unknown one.
 */
export function firedLabel({ component_type, name, plugin, built_in }: Detection, ownPlugin: string): string {
  const id = `${component_type}:${name}`
  if (plugin === ownPlugin) return id
  return `${plugin ?? (built_in === true ? '(built-in)' : '(unknown)')}/${id}`
}

/** What fired besides or instead of the expected component, the earliest first. */
function otherFirings(
  { detections, component_type, expected_component }: TrialEvaluation,
  asked: string,
  ownPlugin: string,
): readonly string[] {
  const others = rivalsOf({ type: component_type, cli_name: expected_component }, detections)
  return others.map((detection) => firedLabel(detection, ownPlugin)).filter((label) => label !== asked)
}
