/**
 * What all stages of a plugin evaluation share: component types, arms, stages and progress. Each stage has a contract of its own in its
 * folder. What a stage writes to a run directory is a public format: snake_case, fields are only ever added.
 */

export const componentTypes = ['skill', 'agent', 'command', 'hook', 'mcp_server'] as const
export type ComponentType = (typeof componentTypes)[number]

/** What is installed in a trial: no plugin, only the plugin under test, or others beside it. */
export const arms = ['without', 'alone', 'crowd'] as const
export type Arm = (typeof arms)[number]

/** A progress message of a running evaluation; `--progress jsonl` prints one per line. */
export type PluginStep =
  | { readonly kind: 'stage_start'; readonly stage: PluginStage; readonly total: number }
  | {
      readonly kind: 'stage_complete'
      readonly stage: PluginStage
      readonly duration_ms: number
      readonly count: number
    }
  | ({ readonly kind: 'scenario_start' } & TrialName)
  | ({
      readonly kind: 'scenario_complete'
      readonly outcome: 'done' | 'infra' | 'invalid'
      readonly cost_usd: number | null
      readonly duration_ms: number
      readonly message?: string
    } & TrialName)
  | { readonly kind: 'note'; readonly level: 'info' | 'warning'; readonly message: string }
  | { readonly kind: 'error'; readonly message: string }

interface TrialName {
  readonly trial: string
  readonly scenario: string
  readonly arm: Arm
  readonly rep: number
}

export function note(onStep: (step: PluginStep) => void, level: 'info' | 'warning', message: string): void {
  onStep({ kind: 'note', level, message })
}

export const stages = ['analysis', 'generation', 'execution', 'evaluation'] as const
export type PluginStage = (typeof stages)[number]
