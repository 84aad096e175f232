import { GantryError } from '../../core/error.ts'
import { nearest } from '../../core/nearest.ts'
import type { PluginConfig } from './keys/schema.ts'
import type { ConfigEntry } from './layers.ts'

type Scope = keyof PluginConfig['scope']

/** The flags of the command line. Absent: the environment, the file or the default decides. */
export interface PluginOverrides {
  /** Directory of the plugin; a positional argument counts as this too. With a marketplace also the name of one of its plugins. */
  readonly plugin?: string
  readonly marketplace?: string
  /** Every plugin of the marketplace. */
  readonly all?: boolean
  /** Only these types of components. */
  readonly scope?: readonly string[]
  readonly scenarios?: readonly string[]
  /** Only `false` has an effect: `true` is the default of the flag. */
  readonly cases?: boolean
  readonly agent?: string
  readonly model?: string
  readonly generationModel?: string
  readonly judgeModel?: string
  readonly reps?: number
  readonly samples?: number
  readonly semantic?: boolean
  /** Only `false` has an effect, as with `cases`. */
  readonly batch?: boolean
  readonly rewind?: boolean
  readonly withPlugins?: readonly string[]
  readonly arms?: readonly string[]
  readonly concurrency?: number
  readonly maxCostUsd?: number
  readonly output?: string
  readonly dryRun?: boolean
  readonly estimate?: boolean
  readonly fast?: boolean
  readonly failedRun?: string
  /** The same as `strategy: 'isolated'`. */
  readonly isolated?: boolean
  readonly strategy?: string
  readonly timeoutMs?: number
  /** Hide personal data in transcripts and logs. */
  readonly sanitize?: boolean
  readonly verbose?: boolean
  readonly debug?: boolean
}

/** One flag: its spelling and the keys it sets. */
interface Override {
  readonly flag: string
  sets(value: never): readonly (readonly [key: string, value: unknown])[]
}

const scopes: readonly Scope[] = ['skills', 'agents', 'commands', 'hooks', 'mcp_servers']

const table: {
  readonly [Name in keyof PluginOverrides]-?: Override & {
    sets(value: NonNullable<PluginOverrides[Name]>): readonly (readonly [string, unknown])[]
  }
} = {
  plugin: one('--plugin', 'plugin.path'),
  marketplace: one('--marketplace', 'marketplace.path'),
  all: one('--all', 'marketplace.evaluate_all'),
  scope: {
    flag: '--scope',
    sets: (wanted) => scopesIn(wanted).map(([scope, isWanted]) => [`scope.${scope}`, isWanted]),
  },
  scenarios: one('--scenarios', 'scenarios'),
  cases: { flag: '--no-cases', sets: (cases) => (cases ? [] : [['cases', false]]) },
  agent: one('--agent', 'execution.agent'),
  model: one('--model', 'execution.model'),
  generationModel: one('--generation-model', 'generation.model'),
  judgeModel: one('--judge-model', 'evaluation.model'),
  reps: one('--reps', 'execution.num_reps'),
  samples: one('--samples', 'evaluation.num_samples'),
  semantic: one('--semantic', 'generation.semantic_variations'),
  batch: { flag: '--no-batch', sets: (batch) => (batch ? [] : [['force_synchronous', true]]) },
  rewind: one('--rewind', 'rewind_file_changes'),
  withPlugins: one('--with-plugins', 'execution.additional_plugins'),
  arms: one('--arms', 'execution.arms'),
  concurrency: one('--concurrency', 'max_concurrent'),
  maxCostUsd: one('--max-cost-usd', 'execution.max_budget_usd'),
  output: one('--output', 'output.format'),
  dryRun: one('--dry-run', 'dry_run'),
  estimate: one('--estimate', 'estimate_costs'),
  fast: one('--fast', 'fast_mode.enabled'),
  failedRun: one('--failed-run', 'fast_mode.failed_run_id'),
  isolated: {
    flag: '--isolated',
    sets: (isolated) => (isolated ? [['execution.session_strategy', 'isolated']] : []),
  },
  strategy: one('--strategy', 'execution.session_strategy'),
  timeoutMs: one('--timeout', 'execution.timeout_ms'),
  sanitize: {
    flag: '--sanitize',
    sets: (sanitize) => [
      ['output.sanitize_transcripts', sanitize],
      ['output.sanitize_logs', sanitize],
      ['output.sanitization.enabled', sanitize],
    ],
  },
  verbose: one('--verbose', 'verbose'),
  debug: one('--debug', 'debug'),
}

/** The keys and values that the flags set. */
export function readOverrides(overrides: PluginOverrides): readonly ConfigEntry[] {
  return Object.entries(overrides).flatMap(([name, value]) => {
    const override: Override | undefined = Object.hasOwn(table, name)
      ? table[name as keyof PluginOverrides]
      : undefined
    if (override === undefined || value === undefined) return []
    const by = { kind: 'flag', flag: override.flag } as const
    return override.sets(value as never).map(([key, set]) => ({ path: key.split('.'), value: set, by }))
  })
}

function one(
  flag: string,
  key: string,
): { flag: string; sets(value: unknown): readonly (readonly [string, unknown])[] } {
  return { flag, sets: (value) => [[key, value]] }
}

function scopesIn(wanted: readonly string[]): readonly (readonly [Scope, boolean])[] {
  const unknown = wanted.find((name) => !scopes.some((scope) => scope === name))
  if (unknown === undefined) return scopes.map((scope) => [scope, wanted.includes(scope)])
  const near = nearest(unknown, scopes)
  throw new GantryError('USAGE', `--scope: '${unknown}' is not a type of component`, {
    hint: near === undefined ? `Known: ${scopes.join(', ')}.` : `Did you mean '${near}'?`,
  })
}
