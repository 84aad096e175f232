import { sha256 } from '../../io/sha256.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { Arm } from '../contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { PluginTrial } from './contract.ts'
import { type ProcessSettings, processSettings } from './process-settings.ts'
import type { ExecuteContext } from './request.ts'

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

/** Trials that one process can make, one after the other. */
export interface TrialGroup {
  /** The same for the same process settings. */
  readonly key: string
  readonly settings: ProcessSettings
  readonly trials: readonly GroupedTrial[]
}

export interface GroupedTrial {
  readonly trial: PluginTrial
  readonly scenario: PluginScenario
}

/**
 * Trials of the same component in the same arm with the same settings share a process; with the strategy `isolated` each
 * has its own. The longest group comes first: begun last, it would be waited for alone.
 */
export function groupTrials(
  context: Pick<ExecuteContext, 'config' | 'plugin' | 'crowd'>,
  trials: readonly GroupedTrial[],
): readonly TrialGroup[] {
  const isIsolated = context.config.execution.session_strategy === 'isolated'
  const groups = new Map<string, { key: string; settings: ProcessSettings; trials: GroupedTrial[] }>()
  for (const grouped of trials) {
    const { trial, scenario } = grouped
    const settings = processSettings(context, trial.arm, scenario)
    const key = isIsolated ? trial.id : keyOf(grouped, settings)
    const group = groups.get(key) ?? { key, settings, trials: [] }
    group.trials.push(grouped)
    groups.set(key, group)
  }
  return [...groups.values()].toSorted((a, b) => b.trials.length - a.trials.length)
}

/** The order of what the settings list does not make another process. */
function keyOf({ trial, scenario }: GroupedTrial, settings: ProcessSettings): string {
  const { plugins, allowedTools, disallowedTools, addDirs, env, ...rest } = settings
  const differences = [
    scenario.component_type,
    scenario.component_ref,
    trial.arm,
    [plugins, allowedTools, disallowedTools, addDirs].map((list) => list.toSorted()),
    Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    rest,
  ]
  // A hash, because the environment may contain secrets.
  return sha256(JSON.stringify(differences))
}
