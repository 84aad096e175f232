import type { ConfusionRow } from './evaluation-summary.ts'
import { nobody } from './fired-component.ts'
import type { ScenarioTally } from './scenario-tally.ts'

const examples = 5

/** Who fired where whom was expected. Scenarios that expect a component to stay quiet expect nobody. */
export function confusion(tallies: readonly ScenarioTally[]): readonly ConfusionRow[] {
  const rows = Map.groupBy(
    tallies.filter(({ component }) => component !== null),
    ({ component, expected_trigger }) => (expected_trigger ? (component ?? nobody) : nobody),
  )
  return [...rows]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([expected, of]) => ({ expected, fired: cells(of) }))
}

function cells(tallies: readonly ScenarioTally[]): ConfusionRow['fired'] {
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
