import { z } from 'zod'
import { GantryError } from '../../../core/error.ts'
import type { Execution, PluginTranscript, PluginTrial } from '../../execute/contract.ts'
import type { PluginScenario } from '../../generate/contract.ts'

/** A trial on disk. Its parts are read only while it is evaluated. */
export interface StoredTrial {
  readonly trial: PluginTrial
  readonly scenario: PluginScenario
  /** The raw content; undefined when missing. May throw GantryError CORRUPT. */
  execution(): unknown
  transcript(): unknown
}

export type TrialTraces =
  | { readonly kind: 'whole'; readonly execution: Execution; readonly transcript: PluginTranscript | null }
  /** `why` says what is damaged. The cost is known when the execution is readable. */
  | { readonly kind: 'damaged'; readonly why: string; readonly execution: Execution | null }

/** Reads and validates the traces of a trial. A missing transcript is allowed; a truncated one is damage. */
export async function readTrial({ trial, execution, transcript }: StoredTrial): Promise<TrialTraces> {
  const ran = await load(execution)
  if (ran === undefined) return unreadable('its execution is missing')
  if (!isExecution(ran)) return unreadable(`its execution is damaged: ${damage(executionSchema, ran)}`)
  if (ran.trial.id !== trial.id) return unreadable(`its execution is of trial ${ran.trial.id}`)
  const said = await load(transcript)
  if (isTranscript(said)) return { kind: 'whole', execution: ran, transcript: said }
  // A trial that failed or was invalid stays so, with or without its transcript.
  if (said === undefined || isUninformative(ran)) return { kind: 'whole', execution: ran, transcript: null }
  const why = `its transcript is damaged: ${damage(transcriptSchema, said)}`
  return { kind: 'damaged', why, execution: ran }
}

/** Whether a trial says nothing about the plugin, whatever its traces contain. */
export function isUninformative({ failure, invalid }: Execution): boolean {
  return failure !== undefined || invalid !== undefined
}

function unreadable(why: string): TrialTraces {
  return { kind: 'damaged', why, execution: null }
}

/** undefined when missing. For invalid JSON the error message, which no schema accepts. */
async function load(read: () => unknown): Promise<unknown> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof GantryError && error.code === 'CORRUPT') return error.message
    throw error
  }
}

const text = z.string()
const number = z.number()
const tokens = z.looseObject({ input: number, output: number, cacheRead: number, cacheWrite: number })

/** The part of `execution.json` that evaluation relies on. */
const executionSchema = z.looseObject({
  trial: z.looseObject({
    id: text,
    scenario_id: text,
    arm: z.enum(['without', 'alone', 'crowd']),
    rep: number,
  }),
  detected_tools: z.array(
    z.looseObject({ name: text, tool_use_id: text, timestamp: number, success: z.boolean().optional() }),
  ),
  subagent_captures: z.array(z.looseObject({ agent_id: text, agent_type: text, start_timestamp: number })),
  expansions: z.array(z.looseObject({ command_name: text, timestamp: number })),
  hook_responses: z.array(
    z.looseObject({
      hook_name: text,
      hook_event: text,
      stderr: text,
      outcome: z.enum(['success', 'error', 'cancelled', 'unknown']),
      timestamp: number,
    }),
  ),
  session_timing: z.looseObject({
    starts: z.array(z.looseObject({ source: text, timestamp: number })),
    end: z.looseObject({ reason: text, timestamp: number }).optional(),
  }),
  errors: z.array(z.looseObject({ error_type: text })),
  permission_denials: z.array(text),
  termination_type: text,
  ending: text,
  num_turns: number,
  api_duration_ms: number,
  duration_ms: number,
  cost_usd: number.nullable(),
  tokens: tokens.nullable(),
  model_usage: z.array(z.looseObject({ model: text, tokens, costUsd: number.nullable() })),
  failure: z.looseObject({ reason: text, message: text }).optional(),
  invalid: text.optional(),
})

const transcriptSchema = z.looseObject({
  metadata: z.looseObject({ version: z.literal('v3.0') }),
  events: z.array(
    z.union([
      z.looseObject({ id: text, type: z.literal('tool_result'), tool_use_id: text, result: text }),
      z.looseObject({
        id: text,
        type: z.enum(['user', 'assistant']),
        edit: z.looseObject({
          message: z.looseObject({
            content: text,
            tool_calls: z.array(z.looseObject({ id: text, name: text })).optional(),
          }),
        }),
      }),
    ]),
  ),
})

export function isExecution(value: unknown): value is Execution {
  return executionSchema.safeParse(value).success
}

export function isTranscript(value: unknown): value is PluginTranscript {
  return transcriptSchema.safeParse(value).success
}

/** A file that is not JSON arrives as the error message of its reader. */
function damage(schema: z.ZodType, value: unknown): string {
  if (typeof value === 'string') return value
  const [issue] = schema.safeParse(value).error?.issues ?? []
  const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
  return `${place}${issue?.message ?? 'it cannot be read'}`
}
