import { GantryError } from '../../core/error.ts'
import { didYouMean } from '../../core/nearest.ts'
import { componentTypes } from '../contract.ts'
import type { ConfigEntry } from './layers.ts'

/** The flags of the command line. Absent: the environment, the file or the default decides. */
export type PluginOverrides = {
  readonly [Name in keyof typeof table]?: Parameters<(typeof table)[Name]['sets']>[0]
}

/** One flag: its spelling and the keys it sets. */
interface Override<Value> {
  readonly flag: string
  sets(value: Value): readonly (readonly [key: string, value: unknown])[]
}

const scopes = componentTypes.map((type) => `${type}s` as const)

const table = {
  /** Directory of the plugin; also set by the positional argument. With a marketplace, may be the name of one of its plugins. */
  plugin: one<string>('--plugin', 'plugin.path'),
  marketplace: one<string>('--marketplace', 'marketplace.path'),
  /** Every plugin of the marketplace. */
  all: one<boolean>('--all', 'marketplace.evaluate_all'),
  /** Only these types of components. */
  scope: some<readonly string[]>('--scope', scopesIn),
  scenarios: one<readonly string[]>('--scenarios', 'scenarios'),
  /** Only `false` has an effect: `true` is the default of the flag. */
  cases: some<boolean>('--no-cases', (cases) => (cases ? [] : [['cases', false]])),
  agent: one<string>('--agent', 'execution.agent'),
  model: one<string>('--model', 'execution.model'),
  generationModel: one<string>('--generation-model', 'generation.model'),
  judgeModel: one<string>('--judge-model', 'evaluation.model'),
  reps: one<number>('--reps', 'execution.num_reps'),
  samples: one<number>('--samples', 'evaluation.num_samples'),
  semantic: one<boolean>('--semantic', 'generation.semantic_variations'),
  /** Only `false` has an effect, like `cases`. */
  batch: some<boolean>('--no-batch', (batch) => (batch ? [] : [['force_synchronous', true]])),
  rewind: one<boolean>('--rewind', 'rewind_file_changes'),
  withPlugins: one<readonly string[]>('--with-plugins', 'execution.additional_plugins'),
  arms: one<readonly string[]>('--arms', 'execution.arms'),
  concurrency: one<number>('--concurrency', 'max_concurrent'),
  maxCostUsd: one<number>('--max-cost-usd', 'execution.max_budget_usd'),
  output: one<string>('--output', 'output.format'),
  dryRun: one<boolean>('--dry-run', 'dry_run'),
  estimate: one<boolean>('--estimate', 'estimate_costs'),
  fast: one<boolean>('--fast', 'fast_mode.enabled'),
  failedRun: one<string>('--failed-run', 'fast_mode.failed_run_id'),
  /** The same as `strategy: 'isolated'`. */
  isolated: some<boolean>('--isolated', (isolated) =>
    isolated ? [['execution.session_strategy', 'isolated']] : [],
  ),
  strategy: one<string>('--strategy', 'execution.session_strategy'),
  timeoutMs: one<number>('--timeout', 'execution.timeout_ms'),
  /** Hide personal data in transcripts and logs. */
  sanitize: some<boolean>('--sanitize', (sanitize) =>
    ['sanitize_transcripts', 'sanitize_logs', 'sanitization.enabled'].map((key) => [
      `output.${key}`,
      sanitize,
    ]),
  ),
  verbose: one<boolean>('--verbose', 'verbose'),
  debug: one<boolean>('--debug', 'debug'),
}

export function readOverrides(overrides: PluginOverrides): readonly ConfigEntry[] {
  return Object.entries(overrides).flatMap(([name, value]) => {
    const override: Override<never> | undefined = Object.hasOwn(table, name)
      ? table[name as keyof PluginOverrides]
      : undefined
    if (override === undefined || value === undefined) return []
    const by = { kind: 'flag', flag: override.flag } as const
    return override.sets(value as never).map(([key, set]) => ({ path: key.split('.'), value: set, by }))
  })
}

function some<Value>(flag: string, sets: Override<Value>['sets']): Override<Value> {
  return { flag, sets }
}

function one<Value>(flag: string, key: string): Override<Value> {
  return { flag, sets: (value) => [[key, value]] }
}

function scopesIn(wanted: readonly string[]): readonly (readonly [key: string, isWanted: boolean])[] {
  const unknown = wanted.find((name) => !scopes.some((scope) => scope === name))
  if (unknown === undefined) return scopes.map((scope) => [`scope.${scope}`, wanted.includes(scope)])
  throw new GantryError('USAGE', `--scope: '${unknown}' is not a type of component`, {
    hint: didYouMean(unknown, scopes, `Known: ${scopes.join(', ')}.`),
  })
}
