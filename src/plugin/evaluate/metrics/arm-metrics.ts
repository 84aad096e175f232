import { settled } from '../../../core/case-tally.ts'
import { type CaseCount, exactRate, rateOnTheseCases } from '../../../core/stats/exact-rate.ts'
import type { Rate } from '../../../core/summary.ts'
import { joined, meanOf, noComponent, type ScenarioTally } from './scenario-tally.ts'

/** Metrics of every component that a scenario of the arm expects. */
function componentMetrics(tallies: readonly ScenarioTally[]) {
  return byKey(
    tallies,
    ({ component }) => component,
    (own, component) => metricsOf(component, own, tallies),
  )
}

/** Metrics of each group of scenarios, in the order of their keys. Scenarios without a key are left out. */
function byKey<Metrics>(
  tallies: readonly ScenarioTally[],
  keyOf: (tally: ScenarioTally) => string | null,
  metrics: (own: readonly ScenarioTally[], key: string) => Metrics,
): Readonly<Record<string, Metrics>> {
  const groups = [...Map.groupBy(tallies, keyOf)].toSorted(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1))
  return Object.fromEntries(
    groups.flatMap(([key, own]) => (key === null ? [] : [[key, metrics(own, key)] as const])),
  )
}

function metricsOf(component: string, own: readonly ScenarioTally[], all: readonly ScenarioTally[]) {
  const positive = own.filter(({ expected_trigger }) => expected_trigger)
  const negative = own.filter(({ expected_trigger }) => !expected_trigger)
  const taken = all.filter(({ instead }) => instead.has(component))
  const timesInstead = (tally: ScenarioTally): number => tally.instead.get(component) ?? 0
  // Each scenario has the same weight here too, however often it was repeated.
  const rightly = sum(positive, triggerShare)
  const wrongly =
    sum(negative, triggerShare) + sum(taken, (tally) => timesInstead(tally) / tally.triggerTrials)
  const missed = positive.length - rightly
  const truePositives = sum(positive, ({ triggered }) => triggered)
  const falsePositives = sum(negative, ({ triggered }) => triggered)
  const firedInstead = sum(taken, timesInstead)
  // Without a chance to fire wrongly, a precision of 100% would say nothing.
  const isTested = negative.some(({ triggerTrials }) => triggerTrials > 0) || firedInstead > 0
  return {
    component_type: own[0]?.component_type ?? 'skill',
    ...typeMetrics(own),
    true_positives: truePositives,
    true_negatives: sum(negative, ({ triggerTrials, triggered }) => triggerTrials - triggered),
    /** Trials that expected another component, which stayed quiet while this one fired. */
    fired_instead: firedInstead,
    /** Of the times it fired, how often it should have: firing in another's place counts against it. */
    precision: isTested
      ? over(truePositives + falsePositives + firedInstead, rightly, rightly + wrongly)
      : exactRate(0, 0),
    /** Of the times it should have fired, how often it did. */
    recall: rateOnTheseCases(positive.map(timesTriggered)),
    f1: over(
      sum(own, ({ triggerTrials }) => triggerTrials) + firedInstead,
      rightly,
      // F1 as a share: correct firings, of those plus half of all mistakes.
      rightly + (wrongly + missed) / 2,
    ),
  }
}

function over(trials: number, successes: number, weight: number): Rate {
  return weight <= 0 ? exactRate(0, 0) : { ...exactRate(successes, weight), n: trials }
}

/** Metrics over the given scenarios that expect a component. */
function typeMetrics(tallies: readonly ScenarioTally[]) {
  const asking = tallies.filter(({ triggerTrials }) => triggerTrials > 0)
  return {
    scenarios_count: asking.length,
    trials_count: sum(asking, ({ triggerTrials }) => triggerTrials),
    trigger_rate: rateOnTheseCases(asking.map(timesTriggered)),
    accuracy: rateOnTheseCases(asking.map(timesRight)),
    avg_quality: meanOf(joined(asking.map(({ quality }) => quality))),
    false_positives: sum(asking, (tally) => (tally.expected_trigger ? 0 : tally.triggered)),
    false_negatives: sum(asking, (tally) =>
      tally.expected_trigger ? tally.triggerTrials - tally.triggered : 0,
    ),
  }
}

export function triggerShare({ triggered, triggerTrials }: ScenarioTally): number {
  return triggered / triggerTrials
}

export function accuracyShare(tally: ScenarioTally): number {
  return tally.expected_trigger ? triggerShare(tally) : 1 - triggerShare(tally)
}

function timesTriggered({ triggered, triggerTrials }: ScenarioTally): CaseCount {
  return { passes: triggered, n: triggerTrials }
}

function timesRight(tally: ScenarioTally): CaseCount {
  return { passes: accuracyShare(tally) * tally.triggerTrials, n: tally.triggerTrials }
}

function sum(tallies: readonly ScenarioTally[], of: (tally: ScenarioTally) => number): number {
  return tallies.reduce((total, tally) => total + of(tally), 0)
}

export type ArmTally = ReturnType<typeof createArmTally>

export function createArmTally() {
  return {
    verdicts: { pass: 0, fail: 0, infra: 0, invalid: 0 },
    conflicts: { low: 0, medium: 0, high: 0 },
    costUsd: 0,
  }
}

export type ComponentMetrics = ReturnType<typeof metricsOf>

/** One arm by itself. Pass scenarios in a fixed order. */
export function armMetrics({ verdicts, conflicts, costUsd }: ArmTally, tallies: readonly ScenarioTally[]) {
  const { trials_count, trigger_rate, accuracy } = typeMetrics(tallies)
  const asking = tallies.filter(({ asked }) => asked > 0)
  const triggering = tallies.filter(({ triggerTrials }) => triggerTrials > 0)
  return {
    total_scenarios: tallies.length,
    total_trials: verdicts.pass + verdicts.fail + verdicts.infra + verdicts.invalid,
    verdicts: { ...verdicts },
    /** Of all trials, including those that failed for infrastructure reasons: execution and evaluation, as far as known. */
    cost_usd: settled(costUsd),
    /** Of trials, by their verdict. */
    pass_rate: rateOnTheseCases(asking.map(({ passed, asked }) => ({ passes: passed, n: asked }))),
    /** Trials that expect a component; the fields below are about them. */
    trigger_trials: trials_count,
    triggered_count: sum(tallies, ({ triggered }) => triggered),
    trigger_rate,
    /** Fired exactly when it should. */
    accuracy,
    /** Scores above 0, including the default of unjudged trials that triggered correctly. */
    avg_quality: meanOf(joined(tallies.map(({ quality }) => quality))),
    avg_grader_score: meanOf(joined(tallies.map(({ graderScore }) => graderScore))),
    by_component: componentMetrics(tallies),
    by_scenario_type: byKey(triggering, ({ scenario_type }) => scenario_type, typeMetrics),
    by_component_type: byKey(triggering, ({ component_type }) => component_type, typeMetrics),
    confusion: confusion(tallies),
    conflicts: { count: conflicts.low + conflicts.medium + conflicts.high, by_severity: { ...conflicts } },
    semantic_stats: semanticStats(triggering),
    repetition_stats: repetitionStats(tallies),
  }
}

const examples = 5

/**
 * Which component fired where which was expected. `expected` is a component (`skill:greet`), or `none` for scenarios that expect it to stay
 * quiet. `fired` lists what fired in its scenarios, the expected one first.
 */
function confusion(tallies: readonly ScenarioTally[]) {
  const rows = byKey(
    tallies,
    ({ component, expected_trigger }) => (component === null || expected_trigger ? component : noComponent),
    cells,
  )
  return Object.entries(rows).map(([expected, fired]) => ({ expected, fired }))
}

/** The component has its plugin before it when that is another one (`other/skill:other:greet`). `scenarios`: some in which it happened. */
function cells(tallies: readonly ScenarioTally[]) {
  const found = new Map<string, { count: number; readonly scenarios: string[] }>()
  for (const { fired, scenario_id } of tallies)
    for (const [component, times] of fired) {
      const cell = found.get(component) ?? { count: 0, scenarios: [] }
      cell.count += times
      if (cell.scenarios.length < examples) cell.scenarios.push(scenario_id)
      found.set(component, cell)
    }
  return [...found]
    .map(([component, cell]) => ({ component, ...cell }))
    .toSorted((a, b) => b.count - a.count || (a.component < b.component ? -1 : 1))
}

/** Of scenarios of type semantic; null when there are none. */
function semanticStats(tallies: readonly ScenarioTally[]) {
  const semantic = tallies.filter(({ scenario_type }) => scenario_type === 'semantic')
  if (semantic.length === 0) return null
  const { trials_count, trigger_rate } = typeMetrics(semantic)
  return {
    total: trials_count,
    trigger_rate,
    by_variation: byKey(
      semantic,
      ({ semantic_variation_type }) => semantic_variation_type ?? 'unnamed',
      (own) => {
        const { trials_count: count, trigger_rate: rate } = typeMetrics(own)
        return { count, trigger_rate: rate }
      },
    ),
  }
}

/** How far repeating a scenario gives the same verdict; null when nothing was repeated. */
function repetitionStats(tallies: readonly ScenarioTally[]) {
  const repeated = tallies.filter(({ asked }) => asked > 1)
  if (repeated.length === 0) return null
  const flaky = repeated.filter(({ passed, asked }) => passed > 0 && passed < asked)
  return {
    reps_per_scenario: repeated.reduce((most, { asked }) => Math.max(most, asked), 1),
    /** Of the scenarios tried more than once, those that always ended the same way. */
    consistency_rate: 1 - flaky.length / repeated.length,
    flaky_scenarios: flaky.map(({ scenario_id, passed, asked }) => ({ scenario_id, passed, trials: asked })),
  }
}
