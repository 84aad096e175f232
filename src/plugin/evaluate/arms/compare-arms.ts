import { settled } from '../../../core/case-tally.ts'
import { counted } from '../../../core/counted.ts'
import {
  compareMeans,
  holm,
  neededPairs,
  verdictOf,
  withAdjustedP,
} from '../../../core/stats/compare-cases.ts'
import { type CaseCount, rateOnTheseCases } from '../../../core/stats/exact-rate.ts'
import { type Arm, arms } from '../../contract.ts'

/**
 * What can be measured for a scenario in every arm. `better` is the good direction. `scale`: the largest possible difference; null:
 * unbounded. `margin`: smaller differences are irrelevant; null: a tenth of the value before.
 */
const armMeasures = {
  accuracy: { better: 'higher', scale: 1, margin: 0.05 },
  grader_score: { better: 'higher', scale: 1, margin: 0.05 },
  quality: { better: 'higher', scale: 10, margin: 0.5 },
  cost_usd: { better: 'lower', scale: null, margin: null },
  turns: { better: 'lower', scale: null, margin: null },
  duration_ms: { better: 'lower', scale: null, margin: null },
} as const

export type ArmMeasure = keyof typeof armMeasures
export type ArmComparison = ReturnType<typeof compareArms>
export type ArmDifference = ArmComparison['differences'][number]
export type MeasureDifference = ArmDifference['measures'][number]

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

/**
 * What the plugin changes, and what the crowd of other plugins changes. Each scenario is one pair; its repetitions are averaged
 * first, so that repeating cannot make a difference look certain. The order of `scenarios` does not matter.
 */
export function compareArms(scenarios: readonly ArmScenario[]) {
  const sorted = scenarios
    .filter(({ trials }) => trials > 0)
    .toSorted((a, b) => (a.scenario_id < b.scenario_id ? -1 : a.scenario_id > b.scenario_id ? 1 : 0))
  const of = (arm: Arm): readonly ArmScenario[] => sorted.filter((scenario) => scenario.arm === arm)
  const compared = comparisons
    .map((each) => ({ ...each, pairs: pairUp(of(each.before), of(each.after)) }))
    .filter(({ pairs }) => pairs.length > 0)
  // Two comparisons are two chances to be wrong.
  const adjusted = new Map(
    measureNames.map((measure) => [
      measure,
      holm(compared.map(({ pairs }) => measureDifference(measure, pairs)?.p ?? 1)),
    ]),
  )
  return {
    arms: arms.flatMap((arm) => row(arm, of(arm))),
    differences: compared.map(({ kind, before, after, pairs }, index) =>
      difference(kind, before, after, pairs, (measure) => adjusted.get(measure)?.[index] ?? 1),
    ),
    crowd_losses: crowdLosses(pairUp(of('alone'), of('crowd'))),
  }
}

const comparisons = [
  { kind: 'alone-without', before: 'without', after: 'alone' },
  { kind: 'crowd-alone', before: 'alone', after: 'crowd' },
] as const

/** The purpose of a plugin comes before its cost. Without the plugin there is no accuracy, so graders decide. */
const deciding: readonly ArmMeasure[] = ['accuracy', 'grader_score', 'quality']

type ScenarioPair = Readonly<Record<'before' | 'after', ArmScenario>>

function pairUp(before: readonly ArmScenario[], after: readonly ArmScenario[]): readonly ScenarioPair[] {
  const byId = new Map(before.map((scenario) => [scenario.scenario_id, scenario]))
  return after.flatMap((scenario) => {
    const earlier = byId.get(scenario.scenario_id)
    return earlier === undefined ? [] : [{ before: earlier, after: scenario }]
  })
}

function difference(
  kind: (typeof comparisons)[number]['kind'],
  before: Arm,
  after: Arm,
  pairs: readonly ScenarioPair[],
  adjustedP: (measure: ArmMeasure) => number,
) {
  const measures = measureNames.flatMap(
    (measure) => measureDifference(measure, pairs, adjustedP(measure)) ?? [],
  )
  const decided = deciding
    .map((name) => measures.find(({ measure }) => measure === name))
    .find((found) => found !== undefined)
  return {
    kind,
    before,
    after,
    measures,
    /** The measure that decides: the plugin's purpose before its cost. null when the arms share no measure. */
    decided_by: decided?.measure ?? null,
    verdict: decided?.verdict ?? ('inconclusive' as const),
    reason:
      decided === undefined
        ? `no measure of the plugin's purpose exists both ${armWords[before]} and ${armWords[after]}: add graders to a case`
        : describe(decided, before, after),
  }
}

function describe(found: NonNullable<ReturnType<typeof measureDifference>>, before: Arm, after: Arm): string {
  const { measure, pairs, difference: value, low, high, further_scenarios } = found
  const measured = `${measure} ${number(found.before)} ${armWords[before]}, ${number(found.after)} ${armWords[after]}`
  const interval = `difference ${number(value)}, between ${number(low)} and ${number(high)}, over ${counted(pairs, 'scenario')}`
  const more =
    further_scenarios === null ? '' : `; about ${counted(further_scenarios, 'more scenario')} needed`
  return `${measured} (${interval})${more}`
}

const armWords = {
  without: 'without the plugin',
  alone: 'with it alone',
  crowd: 'in the crowd',
} as const satisfies Readonly<Record<Arm, string>>

function number(value: number | null): string {
  return value === null ? 'unknown' : String(Math.round(value * 1000) / 1000)
}

const measureNames = Object.keys(armMeasures) as readonly ArmMeasure[]

function row(arm: Arm, scenarios: readonly ArmScenario[]) {
  if (scenarios.length === 0) return []
  const mean = (measure: ArmMeasure): number | null => {
    const values = scenarios.flatMap((scenario) => scenario[measure] ?? [])
    return values.length === 0 ? null : settled(values.reduce((sum, value) => sum + value, 0) / values.length)
  }
  return [
    {
      arm,
      scenarios: scenarios.length,
      trials: scenarios.reduce((sum, { trials }) => sum + trials, 0),
      means: Object.fromEntries(measureNames.map((measure) => [measure, mean(measure)])) as Readonly<
        Record<ArmMeasure, number | null>
      >,
    },
  ]
}

/** What the other plugins cost a component, over scenarios of both arms in which it should fire. */
function crowdLosses(pairs: readonly ScenarioPair[]) {
  const byComponent = Map.groupBy(
    pairs.filter(
      ({ before, after }) => before.expected_trigger && before.triggered !== null && after.triggered !== null,
    ),
    ({ before }) => before.component,
  )
  return [...byComponent]
    .flatMap(([component, of]) => (component === null ? [] : [loss(component, of)]))
    .toSorted((a, b) => b.lost.length - a.lost.length || (a.component < b.component ? -1 : 1))
}

function loss(component: string, pairs: readonly ScenarioPair[]) {
  const idsWhere = (isIn: (alone: number, crowd: number) => boolean): string[] =>
    pairs
      .filter(({ before, after }) => isIn(before.triggered ?? 0, after.triggered ?? 0))
      .map(({ after }) => after.scenario_id)
  const takers = new Map<string, number>()
  for (const { after } of pairs)
    for (const [taker, count] of Object.entries(after.instead))
      takers.set(taker, (takers.get(taker) ?? 0) + count)
  return {
    component,
    scenarios: pairs.length,
    fired_alone: rateOnTheseCases(pairs.map(({ before }) => timesFired(before))),
    fired_in_crowd: rateOnTheseCases(pairs.map(({ after }) => timesFired(after))),
    /** Fired alone in most trials, and in the crowd in fewer than half. */
    lost: idsWhere((alone, crowd) => alone > 0.5 && crowd < 0.5),
    /** The reverse. */
    gained: idsWhere((alone, crowd) => alone < 0.5 && crowd > 0.5),
    /** What fired instead in the crowd, the most frequent first. */
    taken_by: [...takers]
      .map(([taker, count]) => ({ component: taker, count }))
      .toSorted((a, b) => b.count - a.count || (a.component < b.component ? -1 : 1)),
  }
}

function timesFired({ triggered, trials }: ArmScenario): CaseCount {
  return { passes: (triggered ?? 0) * trials, n: trials }
}

/** One measure in two arms, over the scenarios that both have measured. null when there is none. */
function measureDifference(measure: ArmMeasure, scenarios: readonly ScenarioPair[], adjustedP?: number) {
  const pairs = scenarios.flatMap(({ before, after }) => {
    const [was, is] = [before[measure], after[measure]]
    return was === null || is === null ? [] : [{ before: was, after: is }]
  })
  if (pairs.length === 0) return null
  const { better, ...bounds } = armMeasures[measure]
  const before = mean(pairs.map((pair) => pair.before))
  const largest = Math.max(...pairs.flatMap((pair) => [Math.abs(pair.before), Math.abs(pair.after)]))
  const scale = bounds.scale ?? (largest || 1)
  const margin = bounds.margin ?? Math.abs(before) * relativeMargin
  const differences = pairs.map((pair) => (pair.after - pair.before) / scale)
  const found = compareMeans(differences)
  const { value, low, high, p } = adjustedP === undefined ? found : withAdjustedP(found, adjustedP)
  const [rises, falls] = [count(differences, 1), count(differences, -1)]
  const [upper, lower] = better === 'higher' ? [high, low] : [-low, -high]
  const verdict = verdictOf({ low: lower, high: upper }, margin / scale)
  return {
    measure,
    better,
    pairs: pairs.length,
    before: settled(before),
    after: settled(mean(pairs.map((pair) => pair.after))),
    /** After minus before, with its 95% interval. */
    difference: settled(value * scale),
    low: settled(low * scale),
    high: settled(high * scale),
    scenarios_better: better === 'higher' ? rises : falls,
    scenarios_worse: better === 'higher' ? falls : rises,
    scenarios_tied: pairs.length - rises - falls,
    /** Of the permutation test, in either direction, adjusted by Holm's method when two pairs of arms are compared. */
    p,
    margin: settled(margin),
    verdict,
    /** How many more scenarios are needed for a decision; null unless inconclusive. */
    further_scenarios: verdict === 'inconclusive' ? neededPairs(differences, margin / scale) : null,
  }
}

const relativeMargin = 0.1

function count(differences: readonly number[], sign: number): number {
  return differences.filter((difference) => Math.sign(difference) === sign).length
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
