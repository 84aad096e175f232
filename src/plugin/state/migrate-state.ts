import { z } from 'zod'
import { counted } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import { issueText } from '../../io/issue-text.ts'
import { completedStages, type EvaluationState, stateSchema } from './evaluation-state.ts'

/** Parts that older versions kept inside the state. Each is a separate file today. */
export interface EmbeddedParts {
  readonly analysis?: unknown
  readonly scenarios?: unknown
}

export interface MigratedState {
  readonly state: EvaluationState
  readonly embedded: EmbeddedParts
  /** What a reader should know. */
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
  const version = versionOf(value)
  if (version !== null && version > 2)
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
    state: {
      schema_version: 2,
      run_id: older.run_id,
      plugin_name: older.plugin_name,
      plugin_path: older.plugin_path ?? pathOf(older.config) ?? '',
      content_hash: '',
      stage: older.stage ?? 'pending',
      until: 'evaluation',
      timestamp: older.timestamp ?? new Date(0).toISOString(),
      replay: 'off',
      cassettes: '',
      fast_from: null,
      failed_scenario_ids: older.failed_scenario_ids ?? [],
      error: older.error ?? null,
      undoing: null,
      lost_cost_usd: 0,
    },
    embedded: {
      ...(analysis !== undefined && analysis !== null && { analysis }),
      ...(scenarios !== undefined && scenarios !== null && { scenarios }),
    },
    notes: [
      'The state file is from an older version; missing fields were filled in.',
      ...(executions.length === 0
        ? []
        : [
            `${counted(executions.length, 'execution')} of the older version cannot be used. The trials run again.`,
          ]),
    ],
  }
}

function versionOf(value: unknown): number | null {
  const read = z.object({ schema_version: z.number() }).safeParse(value)
  return read.success ? read.data.schema_version : null
}

function pathOf(config: unknown): string | null {
  const read = z.object({ plugin: z.object({ path: z.string() }) }).safeParse(config)
  return read.success ? read.data.plugin.path : null
}
