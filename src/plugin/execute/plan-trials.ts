import { sha256 } from '../../io/sha256.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { Arm } from '../contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { PluginTrial } from './contract.ts'
import { type ProcessSettings, processSettings } from './process-settings.ts'
import type { ExecuteContext } from './request.ts'

/** Every scenario in every arm, repeated as configured. A case may set its own number of runs. */
export function planTrials(
  scenarios: readonly PluginScenario[],
  config: Pick<PluginConfig, 'execution'>,
  arms: readonly Arm[],
): readonly PluginTrial[] {
  return scenarios.flatMap((scenario) =>
    armsOf(scenario, config, arms).flatMap((arm) =>
      Array.from({ length: scenario.case?.runs ?? config.execution.num_reps }, (_, index) => ({
        id: `${pathSegment(scenario.id)}.${arm}-${index + 1}`,
        scenario_id: scenario.id,
        arm,
        rep: index + 1,
      })),
    ),
  )
}

/** A case also runs without the plugin, as in `claude plugin eval`, unless the user has chosen the arms. */
export function armsOf(
  scenario: Pick<PluginScenario, 'case'>,
  { execution }: Pick<PluginConfig, 'execution'>,
  arms: readonly Arm[],
): readonly Arm[] {
  const isCompared = scenario.case !== undefined && execution.arms === undefined && !arms.includes('without')
  return isCompared ? ['without', ...arms] : arms
}

const longest = 120

/** The scenario's id, or a hash when it cannot be a file name. */
export function pathSegment(scenarioId: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(scenarioId) && scenarioId.length <= longest) return scenarioId
  const words = scenarioId.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return `${words.slice(0, longest)}-${sha256(scenarioId).slice(0, 8)}`.replace(/^-/, 's-')
}

export interface GroupedTrial {
  readonly trial: PluginTrial
  readonly scenario: PluginScenario
}

/**
 * Trials of the same component in the same arm with the same settings share a process; with the strategy `isolated` each has its
 * own. The longest group starts first, so that the run does not end waiting for it alone.
 */
export function groupTrials(
  context: Pick<ExecuteContext, 'config' | 'plugin' | 'crowd'>,
  trials: readonly GroupedTrial[],
) {
  const isIsolated = context.config.execution.session_strategy === 'isolated'
  /** Each runs in one process, one after the other. The key is equal for equal process settings. */
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

/** The order of list entries does not matter. */
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
