import type { ComparisonVerdict } from '../../../core/stats/compare-cases.ts'
import type { Rate } from '../../../core/summary.ts'
import type { Arm } from '../../contract.ts'

/** What can be measured for a scenario in every arm. `better` is the good direction. */
export const armMeasures = {
  accuracy: { better: 'higher', scale: 1, margin: 0.05 },
  grader_score: { better: 'higher', scale: 1, margin: 0.05 },
  quality: { better: 'higher', scale: 10, margin: 0.5 },
  cost_usd: { better: 'lower', scale: null, margin: null },
  turns: { better: 'lower', scale: null, margin: null },
  duration_ms: { better: 'lower', scale: null, margin: null },
} as const satisfies Readonly<Record<string, ArmMeasureFacts>>

interface ArmMeasureFacts {
  readonly better: 'higher' | 'lower'
  /** The largest possible difference; null: unbounded. */
  readonly scale: number | null
  /** Smaller differences are irrelevant. null: a tenth of the value before. */
  readonly margin: number | null
}

export type ArmMeasure = keyof typeof armMeasures

/** One scenario in one arm: means over its repetitions that count. null = not measured there. */
export interface ArmScenario extends Readonly<Record<ArmMeasure, number | null>> {
  readonly scenario_id: string
  readonly arm: Arm
  /** `skill:greet`; null when only graders decide. */
  readonly component: string | null
  readonly expected_trigger: boolean
  readonly trials: number
  /** Share of trials in which the expected component fired; null when the scenario expects none. */
  readonly triggered: number | null
  /** What fired instead, and in how many trials. */
  readonly instead: Readonly<Record<string, number>>
}

/** One scenario in two arms. */
export interface ScenarioPair {
  readonly before: ArmScenario
  readonly after: ArmScenario
}

/** Paired by scenario: those that both arms have. */
export interface MeasureDifference {
  readonly measure: ArmMeasure
  readonly better: 'higher' | 'lower'
  readonly pairs: number
  readonly before: number | null
  readonly after: number | null
  /** After minus before, with its 95% interval. */
  readonly difference: number | null
  readonly low: number
  readonly high: number
  readonly scenarios_better: number
  readonly scenarios_worse: number
  readonly scenarios_tied: number
  /** Of the permutation test, in either direction, adjusted by Holm's method when two pairs of arms are compared. */
  readonly p: number
  /** A smaller difference is irrelevant. */
  readonly margin: number
  readonly verdict: ComparisonVerdict
  /** How many more scenarios are needed for a decision; null unless inconclusive. */
  readonly further_scenarios: number | null
}

export interface ArmDifference {
  readonly kind: 'alone-without' | 'crowd-alone'
  readonly before: Arm
  readonly after: Arm
  readonly measures: readonly MeasureDifference[]
  /** The measure that decides: the plugin's purpose before its cost. null when the arms share no measure. */
  readonly decided_by: ArmMeasure | null
  readonly verdict: ComparisonVerdict
  readonly reason: string
}

export interface ArmRow {
  readonly arm: Arm
  readonly scenarios: number
  readonly trials: number
  readonly means: Readonly<Record<ArmMeasure, number | null>>
}

/** What the other plugins cost a component, over scenarios of both arms in which it should fire. */
export interface CrowdCost {
  readonly component: string
  readonly scenarios: number
  readonly fired_alone: Rate
  readonly fired_in_crowd: Rate
  /** Fired alone in most trials, and in the crowd in fewer than half. */
  readonly lost: readonly string[]
  /** The reverse. */
  readonly gained: readonly string[]
  /** What fired instead in the crowd, the most frequent first. */
  readonly taken_by: readonly { readonly component: string; readonly count: number }[]
}

export interface ArmComparison {
  readonly arms: readonly ArmRow[]
  readonly differences: readonly ArmDifference[]
  readonly crowd_losses: readonly CrowdCost[]
}
