import { componentId } from '../component-list.ts'
import type { ComponentScenarios } from './component-record.ts'
import { fallbackScenarios } from './fallback-scenarios.ts'
import type { ComponentPlan } from './plan-component.ts'
import { typeCounts } from './type-counts.ts'

/** What a component gets when there is no model to ask. */
export function fallbackComponent({ entry, neighbours, slots }: ComponentPlan): ComponentScenarios {
  const { name } = entry.component
  const { scenarios, warnings } = fallbackScenarios(entry, neighbours)
  return {
    scenarios,
    record: {
      component: componentId(entry.type, name),
      component_type: entry.type,
      name,
      origin: 'fallback',
      asked: typeCounts(slots.map(({ type }) => ({ scenario_type: type }))),
      got: typeCounts(scenarios),
      dropped: [],
      repaired: [],
      usage: [],
      warnings: [...warnings],
    },
  }
}
