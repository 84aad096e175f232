import { sha256 } from '../../io/sha256.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { Arm } from '../contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { PluginTrial } from './contract.ts'

/** Every scenario in every arm, as often as it is to be tried. A case says itself how often, if it wants to. */
export function planTrials(
  scenarios: readonly PluginScenario[],
  config: Pick<PluginConfig, 'execution'>,
  arms: readonly Arm[],
): readonly PluginTrial[] {
  return scenarios.flatMap((scenario) =>
    arms.flatMap((arm) =>
      Array.from({ length: scenario.case?.runs ?? config.execution.num_reps }, (_, index) => ({
        id: `${pathSegment(scenario.id)}.${arm}-${index + 1}`,
        scenario_id: scenario.id,
        arm,
        rep: index + 1,
      })),
    ),
  )
}

const longest = 120

/** A scenario's id, unless a file could not be named so. */
export function pathSegment(scenarioId: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(scenarioId) && scenarioId.length <= longest) return scenarioId
  const words = scenarioId.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return `${words.slice(0, longest)}-${sha256(scenarioId).slice(0, 8)}`.replace(/^-/, 's-')
}
