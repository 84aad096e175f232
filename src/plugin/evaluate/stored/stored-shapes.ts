import { z } from 'zod'
import type { Execution, PluginTranscript } from '../../execute/contract.ts'

const text = z.string()
const number = z.number()
const tokens = z.looseObject({ input: number, output: number, cacheRead: number, cacheWrite: number })

/** As much of `execution.json` as evaluation relies on. */
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

/** What was read, or why it cannot be what it should be. */
export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'damaged'; readonly why: string }

export function readExecution(value: unknown): Read<Execution> {
  return isExecution(value) ? { kind: 'read', value } : damaged(executionSchema, value)
}

export function readTranscript(value: unknown): Read<PluginTranscript> {
  return isTranscript(value) ? { kind: 'read', value } : damaged(transcriptSchema, value)
}

function isExecution(value: unknown): value is Execution {
  return executionSchema.safeParse(value).success
}

function isTranscript(value: unknown): value is PluginTranscript {
  return transcriptSchema.safeParse(value).success
}

/** What no file held as JSON arrives as the words of whoever tried to read it. */
function damaged(schema: z.ZodType, value: unknown): Read<never> {
  if (typeof value === 'string')
    return { kind: 'damaged', why: value === 'damaged' ? 'it cannot be read' : value }
  const [issue] = schema.safeParse(value).error?.issues ?? []
  const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
  return { kind: 'damaged', why: `${place}${issue?.message ?? 'it cannot be read'}` }
}
