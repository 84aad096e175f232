import { sha256 } from '../../io/sha256.ts'
import type { PlannedTrial } from '../../trials/contract.ts'
import { planPairs } from '../../trials/plan-pairs.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { Arm } from '../contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { PluginTrial } from './contract.ts'
import { type ProcessSettings, processSettings } from './process-settings.ts'
import type { ExecuteContext } from './request.ts'

/** Every scenario in every arm, repeated as configured, in the order of `planPairs`. A case may set its own number of runs. */
export function planTrials(
  scenarios: readonly PluginScenario[],
  config: Pick<PluginConfig, 'execution'>,
  arms: readonly Arm[],
): readonly PluginTrial[] {
  const cases = scenarios.map((scenario) => ({
    case: scenario.id,
    arms: armsOf(scenario, config, arms),
    repeat: scenario.case?.runs ?? config.execution.num_reps,
  }))
  return planPairs(cases, config.execution.seed).map(({ case: id, arm, attempt }) => ({
    id: `${pathSegment(id)}.${arm}-${attempt}`,
    scenario_id: id,
    arm,
    rep: attempt,
  }))
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

export interface PluginTrialSpec extends GroupedTrial {
  readonly settings: ProcessSettings
}

/**
 * The trials for the engine: one component after the other, the one with most trials first, so that the run does not end waiting for it
 * alone. Trials of a component in the same arm with the same settings share a process; with the strategy `isolated` each has its own.
 * All use Claude Code, so all have the same provider.
 */
export function plannedPluginTrials(
  context: Pick<ExecuteContext, 'config' | 'plugin' | 'crowd'>,
  trials: readonly GroupedTrial[],
  earlierUsd: (arm: Arm) => number | null = () => null,
): PlannedTrial<PluginTrialSpec>[] {
  const isIsolated = context.config.execution.session_strategy === 'isolated'
  const components = Map.groupBy(
    trials,
    ({ scenario: { component_type: type, component_ref: ref } }) => `${type} ${ref}`,
  )
  return [...components.values()]
    .toSorted((a, b) => b.length - a.length)
    .flat()
    .map((grouped) => {
      const { trial, scenario } = grouped
      const settings = processSettings(context, trial.arm, scenario)
      const earlierCostUsd = earlierUsd(trial.arm)
      return {
        id: trial.id,
        title: scenario.id,
        provider: 'claude-code',
        like: trial.arm,
        ...(earlierCostUsd !== null && { earlierCostUsd }),
        group: isIsolated ? trial.id : keyOf(grouped, settings),
        spec: { trial, scenario, settings },
      }
    })
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
