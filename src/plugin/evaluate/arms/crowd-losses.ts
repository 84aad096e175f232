import { suiteRate } from '../metrics/suite-rate.ts'
import type { CrowdLoss, ScenarioPair } from './arm-comparison.ts'

/** Per component: where it fired alone, no longer does in company, and who takes its place. */
export function crowdLosses(pairs: readonly ScenarioPair[]): readonly CrowdLoss[] {
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

function loss(component: string, pairs: readonly ScenarioPair[]): CrowdLoss {
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
    fired_alone: suiteRate(pairs.map(({ before }) => ({ mean: before.triggered ?? 0, n: before.trials }))),
    fired_in_crowd: suiteRate(pairs.map(({ after }) => ({ mean: after.triggered ?? 0, n: after.trials }))),
    lost: idsWhere((alone, crowd) => alone > 0.5 && crowd < 0.5),
    gained: idsWhere((alone, crowd) => alone < 0.5 && crowd > 0.5),
    taken_by: [...takers]
      .map(([taker, count]) => ({ component: taker, count }))
      .toSorted((a, b) => b.count - a.count || (a.component < b.component ? -1 : 1)),
  }
}
