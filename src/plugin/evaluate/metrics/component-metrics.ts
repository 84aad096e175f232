import { wilsonRate } from '../../../core/stats/wilson.ts'
import type { Rate } from '../../../core/summary.ts'
import type { ComponentMetrics } from './evaluation-summary.ts'
import type { ScenarioTally } from './scenario-tally.ts'
import { suiteRate } from './suite-rate.ts'
import { sum, triggerShare, typeMetrics } from './type-metrics.ts'

/** Numbers of every component that a scenario of the arm asks for. */
export function componentMetrics(
  tallies: readonly ScenarioTally[],
): Readonly<Record<string, ComponentMetrics>> {
  const byComponent = Map.groupBy(tallies, ({ component }) => component)
  const named = [...byComponent].flatMap(([component, own]) =>
    component === null ? [] : [{ component, own }],
  )
  return Object.fromEntries(
    named
      .toSorted((a, b) => (a.component < b.component ? -1 : 1))
      .map(({ component, own }) => [component, metricsOf(component, own, tallies)]),
  )
}

function metricsOf(
  component: string,
  own: readonly ScenarioTally[],
  all: readonly ScenarioTally[],
): ComponentMetrics {
  const positive = own.filter(({ expected_trigger }) => expected_trigger)
  const negative = own.filter(({ expected_trigger }) => !expected_trigger)
  const taken = all.filter(({ instead }) => instead.has(component))
  const timesInstead = (tally: ScenarioTally): number => tally.instead.get(component) ?? 0
  // Each scenario weighs the same here, too: its repetitions are a share, not so many trials more.
  const rightly = sum(positive, (tally) => triggerShare(tally).mean)
  const wrongly =
    sum(negative, (tally) => triggerShare(tally).mean) +
    sum(taken, (tally) => timesInstead(tally) / tally.triggerTrials)
  const missed = positive.length - rightly
  const truePositives = sum(positive, ({ triggered }) => triggered)
  const falsePositives = sum(negative, ({ triggered }) => triggered)
  const firedInstead = sum(taken, timesInstead)
  return {
    component_type: own[0]?.component_type ?? 'skill',
    ...typeMetrics(own),
    true_positives: truePositives,
    true_negatives: sum(negative, ({ triggerTrials, triggered }) => triggerTrials - triggered),
    fired_instead: firedInstead,
    precision: over(truePositives + falsePositives + firedInstead, rightly, rightly + wrongly),
    recall: suiteRate(positive.map(triggerShare)),
    f1: over(
      sum(own, ({ triggerTrials }) => triggerTrials) + firedInstead,
      rightly,
      // F1 is a share like any other: of rightly fired, among them and half of all mistakes.
      rightly + (wrongly + missed) / 2,
    ),
  }
}

function over(trials: number, successes: number, weight: number): Rate {
  return weight <= 0 ? wilsonRate(0, 0) : { ...wilsonRate(successes, weight), n: trials }
}
