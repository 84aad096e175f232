import { z } from 'zod'
import { addCost } from '../../core/add-cost.ts'
import { GantryError } from '../../core/error.ts'
import { asObject, asString } from '../../core/json-fields.ts'
import { addTokens } from '../../core/trial.ts'
import { issueText } from '../../io/issue-text.ts'
import { replayModes } from '../../models/boundary/model-link.ts'
import { type PluginStage, stages } from '../contract.ts'
import type { ModelUse } from '../evaluate/contract.ts'
import { modelUseSchema } from '../generate/component-record.ts'

/** The stage that was completed last; `pending` before the first, `complete` when the run has ended. */
const completedStages = ['pending', ...stages, 'complete'] as const

/**
 * `state.json` of a run: its progress and what it needs to resume. Everything else is in separate files, so that a checkpoint
 * costs the same for ten scenarios and for ten thousand.
 */
export const stateSchema = z.object({
  schema_version: z.literal(2),
  run_id: z.string(),
  plugin_name: z.string(),
  plugin_path: z.string(),
  /** Of the plugin when it was analysed. */
  content_hash: z.string(),
  stage: z.enum(completedStages),
  /** The last stage to run. */
  until: z.enum(stages),
  /** ISO 8601, UTC. */
  timestamp: z.string(),
  replay: z.enum(replayModes),
  /** Absolute. */
  cassettes: z.string(),
  /** The run whose failed scenarios this one repeats. */
  fast_from: z.string().nullable(),
  /** Scenarios with a trial that did not pass. */
  failed_scenario_ids: z.array(z.string()),
  error: z.string().nullable(),
  /** The results of this stage and of those after it are being removed. A resumed run finishes that first. */
  undoing: z.enum(stages).nullable().default(null),
  /** Cost of what is no longer in the run: trials that ran again, attempts that were stopped. */
  lost_cost_usd: z.number().min(0).default(0),
  /** By model, as far as it is known. */
  lost_usage: z.array(modelUseSchema).default([]),
})

export type EvaluationState = Readonly<z.output<typeof stateSchema>>

/** The state of a run in which nothing has happened yet. */
export function newState(
  facts: Pick<EvaluationState, 'run_id' | 'plugin_name' | 'plugin_path' | 'timestamp'> &
    Partial<EvaluationState>,
): EvaluationState {
  return {
    schema_version: 2,
    content_hash: '',
    stage: 'pending',
    until: 'evaluation',
    replay: 'off',
    cassettes: '',
    fast_from: null,
    failed_scenario_ids: [],
    error: null,
    undoing: null,
    lost_cost_usd: 0,
    lost_usage: [],
    ...facts,
  }
}

/** The next stage to run; null after `until`. */
export function nextStage({ stage, until }: Pick<EvaluationState, 'stage' | 'until'>): PluginStage | null {
  if (stage === 'complete') return null
  const next = stages[stage === 'pending' ? 0 : stages.indexOf(stage) + 1]
  return next === undefined || stages.indexOf(next) > stages.indexOf(until) ? null : next
}

export function completed(state: EvaluationState, stage: PluginStage, now: Date): EvaluationState {
  return { ...state, stage, error: null, timestamp: now.toISOString() }
}

export function ended(
  state: EvaluationState,
  failedScenarioIds: readonly string[],
  now: Date,
): EvaluationState {
  return {
    ...state,
    stage: 'complete',
    failed_scenario_ids: [...failedScenarioIds],
    error: null,
    timestamp: now.toISOString(),
  }
}

export function stopped(state: EvaluationState, error: string, now: Date): EvaluationState {
  return { ...state, error, timestamp: now.toISOString() }
}

/** Moves back so that `from` is the next stage. Does not check that its data exists. */
export function rewoundTo(
  state: EvaluationState,
  from: PluginStage,
  until: PluginStage,
  now: Date,
): EvaluationState {
  const stage = stages[stages.indexOf(from) - 1] ?? 'pending'
  return { ...state, stage, until, timestamp: now.toISOString() }
}

export function lost(
  state: EvaluationState,
  costUsd: number,
  usage: readonly ModelUse[] = [],
): EvaluationState {
  const byModel = Map.groupBy([...state.lost_usage, ...usage], ({ model }) => model)
  const lost_usage = [...byModel.values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [rest.reduce<ModelUse>(addUse, first)],
  )
  return { ...state, lost_cost_usd: state.lost_cost_usd + costUsd, lost_usage }
}

function addUse({ model, tokens, cost_usd }: ModelUse, more: ModelUse): ModelUse {
  return { model, tokens: addTokens(tokens, more.tokens), cost_usd: addCost(cost_usd, more.cost_usd) }
}

/** Parts that older versions kept inside the state. Each is a separate file today. */
interface EmbeddedParts {
  readonly analysis?: unknown
  readonly scenarios?: unknown
  readonly executions?: readonly unknown[]
}

export interface MigratedState {
  readonly state: EvaluationState
  readonly embedded: EmbeddedParts
  readonly notes: readonly string[]
}

/** The fields of an older state that can be relied on. All but the names may be missing. */
const olderSchema = z.object({
  schema_version: z.int().min(0).max(1).optional(),
  run_id: z.string(),
  plugin_name: z.string(),
  plugin_path: z.string().nullish(),
  stage: z.enum(completedStages).nullish(),
  timestamp: z.string().nullish(),
  config: z.unknown().optional(),
  analysis: z.unknown().optional(),
  scenarios: z.unknown().optional(),
  executions: z.array(z.unknown()).nullish(),
  partial_executions: z.array(z.unknown()).nullish(),
  failed_scenario_ids: z.array(z.string()).nullish(),
  error: z.string().nullish(),
})

/**
 * Converts a state of any older version. Missing fields get defaults. Throws GantryError INVALID_FILE for other content, or for
 * a newer version.
 */
export function migrateState(value: unknown, file: string): MigratedState {
  const now = stateSchema.safeParse(value)
  if (now.success) return { state: now.data, embedded: {}, notes: [] }
  const version = asObject(value)?.schema_version
  if (typeof version === 'number' && version > 2)
    throw new GantryError('INVALID_FILE', `${file} was written by a newer Gantry (format ${version})`, {
      hint: 'Use that version, or start a new run.',
      at: { file },
    })
  const older = version === 2 ? null : olderSchema.safeParse(value)
  if (older === null || !older.success) {
    const [issue] = (older ?? now).error?.issues ?? []
    throw new GantryError(
      'INVALID_FILE',
      `${file} is not a state file of a plugin evaluation${issue === undefined ? '' : `: ${issueText(issue, value)}`}`,
      { hint: 'Start a new run with gantry plugin run.', at: { file } },
    )
  }
  return fromOlder(older.data)
}

function fromOlder(older: z.output<typeof olderSchema>): MigratedState {
  const executions = older.executions ?? older.partial_executions ?? []
  const { analysis, scenarios } = older
  return {
    state: newState({
      run_id: older.run_id,
      plugin_name: older.plugin_name,
      plugin_path: older.plugin_path ?? asString(asObject(asObject(older.config)?.plugin)?.path) ?? '',
      stage: older.stage ?? 'pending',
      timestamp: older.timestamp ?? new Date(0).toISOString(),
      failed_scenario_ids: older.failed_scenario_ids ?? [],
      error: older.error ?? null,
    }),
    embedded: {
      ...(analysis !== undefined && analysis !== null && { analysis }),
      ...(scenarios !== undefined && scenarios !== null && { scenarios }),
      ...(executions.length > 0 && { executions }),
    },
    notes: ['The state file is from an older version; missing fields were filled in.'],
  }
}
