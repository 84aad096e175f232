import type { PluginScenario, ScenarioType } from './contract.ts'

/** How many scenarios there are of each type; types without any are left out. */
export function typeCounts(
  scenarios: readonly Pick<PluginScenario, 'scenario_type'>[],
): Partial<Record<ScenarioType, number>> {
  const counts: Partial<Record<ScenarioType, number>> = {}
  for (const { scenario_type: type } of scenarios) counts[type] = (counts[type] ?? 0) + 1
  return counts
}
