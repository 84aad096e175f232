import type { PluginScenario } from '../generate/contract.ts'
import type { PluginTrial } from './contract.ts'
import { type ProcessSettings, processSettings } from './process-settings.ts'
import type { ExecuteContext } from './request.ts'

/** Trials that one process can make, one after the other. */
export interface TrialGroup {
  readonly settings: ProcessSettings
  readonly trials: readonly GroupedTrial[]
}

export interface GroupedTrial {
  readonly trial: PluginTrial
  readonly scenario: PluginScenario
}

/**
 * Trials of the same component in the same company with the same settings share a process; with the strategy `isolated` each
 * has its own. The longest group comes first: begun last, it would be waited for alone.
 */
export function groupTrials(
  context: Pick<ExecuteContext, 'config' | 'plugin' | 'crowd'>,
  trials: readonly GroupedTrial[],
): readonly TrialGroup[] {
  const isIsolated = context.config.execution.session_strategy === 'isolated'
  const groups = new Map<string, { settings: ProcessSettings; trials: GroupedTrial[] }>()
  for (const grouped of trials) {
    const { trial, scenario } = grouped
    const settings = processSettings(context, trial.arm, scenario)
    const key = isIsolated ? trial.id : keyOf(grouped, settings)
    const group = groups.get(key) ?? { settings, trials: [] }
    group.trials.push(grouped)
    groups.set(key, group)
  }
  return [...groups.values()].toSorted((a, b) => b.trials.length - a.trials.length)
}

/** The order of what the settings list does not make another process. */
function keyOf({ trial, scenario }: GroupedTrial, settings: ProcessSettings): string {
  const { plugins, allowedTools, disallowedTools, addDirs, env, ...rest } = settings
  return JSON.stringify([
    scenario.component_type,
    scenario.component_ref,
    trial.arm,
    [plugins, allowedTools, disallowedTools, addDirs].map((list) => list.toSorted()),
    Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    rest,
  ])
}
