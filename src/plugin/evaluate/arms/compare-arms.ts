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
import {
  type ArmComparison,
  type ArmDifference,
  type ArmMeasure,
  type ArmRow,
  type ArmScenario,
  armMeasures,
  type CrowdCost,
  type MeasureDifference,
  type ScenarioPair,
} from './arm-comparison.ts'

/**
 * What the plugin changes, and what the crowd of other plugins changes. Each scenario is one pair; its repetitions are averaged
 * first, so that repeating cannot make a difference look certain. The order of `scenarios` does not matter.
 */
export function compareArms(scenarios: readonly ArmScenario[]): ArmComparison {
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

function pairUp(before: readonly ArmScenario[], after: readonly ArmScenario[]): readonly ScenarioPair[] {
  const byId = new Map(before.map((scenario) => [scenario.scenario_id, scenario]))
  return after.flatMap((scenario) => {
    const earlier = byId.get(scenario.scenario_id)
    return earlier === undefined ? [] : [{ before: earlier, after: scenario }]
  })
}

function difference(
  kind: ArmDifference['kind'],
  before: Arm,
  after: Arm,
  pairs: readonly ScenarioPair[],
  adjustedP: (measure: ArmMeasure) => number,
): ArmDifference {
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
    decided_by: decided?.measure ?? null,
    verdict: decided?.verdict ?? 'inconclusive',
    reason:
      decided === undefined
        ? `no measure of the plugin's purpose exists both ${armWords[before]} and ${armWords[after]}: add graders to a case`
        : describe(decided, before, after),
  }
}

function describe(found: MeasureDifference, before: Arm, after: Arm): string {
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

function row(arm: Arm, scenarios: readonly ArmScenario[]): ArmRow[] {
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
      means: Object.fromEntries(measureNames.map((measure) => [measure, mean(measure)])) as ArmRow['means'],
    },
  ]
}

/** Per component: where it fired alone and no longer fires in the crowd, and what fires instead. */
function crowdLosses(pairs: readonly ScenarioPair[]): readonly CrowdCost[] {
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

function loss(component: string, pairs: readonly ScenarioPair[]): CrowdCost {
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
    lost: idsWhere((alone, crowd) => alone > 0.5 && crowd < 0.5),
    gained: idsWhere((alone, crowd) => alone < 0.5 && crowd > 0.5),
    taken_by: [...takers]
      .map(([taker, count]) => ({ component: taker, count }))
      .toSorted((a, b) => b.count - a.count || (a.component < b.component ? -1 : 1)),
  }
}

function timesFired({ triggered, trials }: ArmScenario): CaseCount {
  return { passes: (triggered ?? 0) * trials, n: trials }
}

/** One measure in two arms, over the scenarios that both have measured. null when there is none. */
function measureDifference(
  measure: ArmMeasure,
  scenarios: readonly ScenarioPair[],
  adjustedP?: number,
): MeasureDifference | null {
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
    difference: settled(value * scale),
    low: settled(low * scale),
    high: settled(high * scale),
    scenarios_better: better === 'higher' ? rises : falls,
    scenarios_worse: better === 'higher' ? falls : rises,
    scenarios_tied: pairs.length - rises - falls,
    p,
    margin: settled(margin),
    verdict,
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
