import { z } from 'zod'
import { replayModes } from '../../models/boundary/model-link.ts'
import { type PluginStage, stages } from '../contract.ts'

/** The stage that was completed last; `pending` before the first, `complete` when the run has ended. */
export const completedStages = ['pending', ...stages, 'complete'] as const
type CompletedStage = (typeof completedStages)[number]

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
  /** The run whose failed scenarios this one tries again. */
  fast_from: z.string().nullable(),
  /** Scenarios with a trial that did not pass. */
  failed_scenario_ids: z.array(z.string()),
  error: z.string().nullable(),
  /** The results of this stage and of those after it are being removed. A resumed run finishes that first. */
  undoing: z.enum(stages).nullable().default(null),
  /** Cost of what is no longer in the run: trials that ran again, attempts that were cut off. */
  lost_cost_usd: z.number().min(0).default(0),
})

export type EvaluationState = Readonly<z.output<typeof stateSchema>>

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
  return { ...state, stage: stageBefore(from), until, timestamp: now.toISOString() }
}

export function lost(state: EvaluationState, costUsd: number): EvaluationState {
  return { ...state, lost_cost_usd: state.lost_cost_usd + costUsd }
}

function stageBefore(stage: PluginStage): CompletedStage {
  return stages[stages.indexOf(stage) - 1] ?? 'pending'
}
