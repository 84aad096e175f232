import { type CaseMean, caseMeanRate } from '../../../core/stats/case-mean-rate.ts'
import { wilsonRate } from '../../../core/stats/wilson.ts'
import type { Rate } from '../../../core/summary.ts'
import type { ComponentMetrics, TypeMetrics } from './evaluation-summary.ts'
import { joined, meanOf, type ScenarioTally } from './scenario-tally.ts'

/** Metrics of every component that a scenario of the arm expects. */
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
  // Each scenario has the same weight here too, however often it was repeated.
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
      // F1 as a share: correct firings, of those plus half of all mistakes.
      rightly + (wrongly + missed) / 2,
    ),
  }
}

function over(trials: number, successes: number, weight: number): Rate {
  return weight <= 0 ? wilsonRate(0, 0) : { ...wilsonRate(successes, weight), n: trials }
}

/** Metrics over the given scenarios that expect a component. */
export function typeMetrics(tallies: readonly ScenarioTally[]): TypeMetrics {
  const asking = tallies.filter(({ triggerTrials }) => triggerTrials > 0)
  return {
    scenarios_count: asking.length,
    trials_count: sum(asking, ({ triggerTrials }) => triggerTrials),
    trigger_rate: suiteRate(asking.map(triggerShare)),
    accuracy: suiteRate(asking.map(accuracyShare)),
    avg_quality: meanOf(joined(asking.map(({ quality }) => quality))),
    false_positives: sum(asking, (tally) => (tally.expected_trigger ? 0 : tally.triggered)),
    false_negatives: sum(asking, (tally) =>
      tally.expected_trigger ? tally.triggerTrials - tally.triggered : 0,
    ),
  }
}

export function triggerShare({ triggered, triggerTrials }: ScenarioTally): CaseMean {
  return { mean: triggered / triggerTrials, n: triggerTrials }
}

export function accuracyShare(tally: ScenarioTally): CaseMean {
  const { mean, n } = triggerShare(tally)
  return { mean: tally.expected_trigger ? mean : 1 - mean, n }
}

export function sum(tallies: readonly ScenarioTally[], of: (tally: ScenarioTally) => number): number {
  return tallies.reduce((total, tally) => total + of(tally), 0)
}

/**
 * A rate over scenarios with equal weight. Plain Wilson when every scenario ran once. With repetitions whole scenarios are
 * resampled, because trials of one scenario resemble each other. Pass scenarios in a fixed order.
 */
export function suiteRate(scenarios: readonly CaseMean[]): Rate {
  const counted = scenarios.filter(({ n }) => n > 0)
  if (counted.some(({ n }) => n > 1)) return caseMeanRate(counted)
  return wilsonRate(
    counted.reduce((sum, { mean }) => sum + mean, 0),
    counted.length,
  )
}
