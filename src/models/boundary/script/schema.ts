import { z } from 'zod'
import { choice, optionalChoice, optionalText } from '../../../core/schema.ts'
import { readYaml } from '../../../io/yaml.ts'
import { faultsSchema } from '../faults.ts'
import { callSchema } from './call-schema.ts'

const tokens = z.int().min(0).optional()

const usageSchema = z.strictObject({
  input_tokens: tokens.describe('Default: a quarter of the bytes of the request.'),
  output_tokens: tokens.describe('Default: a quarter of the bytes of the answer.'),
  cache_read_tokens: tokens.describe('Default 0.'),
  cache_write_tokens: tokens.describe('Default 0.'),
  thinking_tokens: tokens.describe(
    'The part of the output that is thinking. Default: estimated from the thinking.',
  ),
})

const errorSchema = z.strictObject({
  status: z.int().min(400).max(599).describe('HTTP status, such as 429, 529 or 500.'),
  message: z.string().default('scripted failure').describe('What the error says.'),
  type: optionalText('The error type of the API, such as overloaded_error. Default: by the status.'),
  retry_after_secs: z.number().min(0).optional().describe('Value of retry-after, in seconds.'),
  times: z
    .int()
    .min(1)
    .optional()
    .describe(
      'How often the error is returned before the next turn follows. Default 1; the last turn of a list repeats without limit.',
    ),
})

const milliseconds = z.int().min(0).max(3_600_000).optional()

const turnSchema = z
  .strictObject({
    thinking: z.string().optional().describe('The thinking of the model before its answer.'),
    text: z.string().optional().describe('The text of the answer.'),
    calls: z.array(callSchema).min(1).optional().describe('Tool calls, made in parallel.'),
    usage: usageSchema.optional().describe('Tokens the answer reports.'),
    delay_ms: milliseconds.describe('Time before the first byte.'),
    chunk_delay_ms: milliseconds.describe('Time between the pieces of a stream.'),
    stop: optionalChoice(
      ['end', 'tools', 'length', 'refusal'],
      'Why the model stops. Default: tools when there are calls, else end.',
    ),
    model: z.string().min(1).optional().describe('The model the answer names. Default: the requested one.'),
    error: errorSchema
      .optional()
      .describe('The call fails instead. It does not count as a turn of the model.'),
  })
  .superRefine((turn, context) => {
    const { error, delay_ms: _, ...answer } = turn
    const given = Object.entries(answer).filter(([, value]) => value !== undefined)
    if (error !== undefined && given.length > 0) {
      const names = given.map(([name]) => name).join(', ')
      context.addIssue({
        code: 'custom',
        message: `a turn with error can have no other key except delay_ms: ${names}`,
      })
    }
    const says = [turn.text, turn.thinking, turn.calls, error].some((part) => part !== undefined)
    if (!says) context.addIssue({ code: 'custom', message: 'a turn needs text, thinking, calls or error' })
  })

const turnsSchema = z
  .array(turnSchema)
  .min(1)
  .superRefine((turns, context) => {
    if (turns.at(-1)?.error?.times === undefined) return
    context.addIssue({
      code: 'custom',
      path: [turns.length - 1, 'error', 'times'],
      message: 'times needs a turn after it: the last turn of a list repeats without limit',
    })
  })

const apart = turnSchema.refine(({ error }) => error?.times === undefined, {
  path: ['error', 'times'],
  error: 'times is only allowed in a list of turns',
})

const pickSchema = z.enum(['index', 'sequence'])

const part = z.string().min(1).optional()

const whenSchema = z
  .strictObject({
    kind: choice(
      ['turn', 'side', 'compaction', 'any'],
      'turn',
      'turn: the work of the agent. side: a call without tools, such as one for a title. compaction: summarizes the history.',
    ),
    system: part.describe('A part of the system prompt.'),
    last_message: part.describe(
      'A part of the last message or tool result, without system text. Earlier messages are ignored.',
    ),
    prompt: part.describe(
      'A part of the messages before the first answer of the model. Matches all calls of one conversation, such as that of a subagent.',
    ),
    model: part.describe('A part of the name of the model.'),
    api: optionalChoice(
      ['anthropic', 'openai-chat', 'openai-responses', 'gemini'],
      'The API format of the agent.',
    ),
    tool: part.describe('The full name of an offered tool.'),
  })
  .describe('All of these must be true.')

export const boundaryScriptSchema = z
  .strictObject({
    name: z.string().min(1).optional().describe('A description of the script, for people.'),
    pick: pickSchema
      .default('index')
      .describe(
        'index: the turn is the number of answers already in the request, so a repeated request gets the same answer. sequence: every request takes the next turn, for agents that shorten their history or add model messages to it. The last turn repeats.',
      ),
    turns: turnsSchema.describe('The answers of the model.'),
    rules: z
      .array(
        z.strictObject({
          when: whenSchema,
          pick: pickSchema.optional().describe('Default: as for the whole script.'),
          turns: turnsSchema.describe('The answers when the rule matches.'),
        }),
      )
      .default([])
      .describe('Checked first, in order; the first match answers. For subagents and special calls.'),
    side: apart
      .optional()
      .describe(
        'The answer to calls without tools, such as those for a title. Default: a title; or the turns, until a request offers a tool, for programs without tools.',
      ),
    compaction: apart
      .default({
        text: '<analysis>The work so far was scripted.</analysis>\n<summary>The work so far was scripted. Go on with it.</summary>',
      })
      .describe('The answer when the agent compacts its history.'),
    models: z
      .array(z.string().min(1))
      .min(1)
      .default(['scripted'])
      .describe('The models to list when the agent asks for them.'),
    faults: faultsSchema.shape.faults
      .optional()
      .describe('Calls to break on purpose; the first matching rule breaks the call.'),
    seed: faultsSchema.shape.seed,
  })
  .transform(({ faults, seed, ...script }) => ({
    ...script,
    ...(faults !== undefined && { faults: { faults, seed } }),
  }))

export type BoundaryScript = z.output<typeof boundaryScriptSchema>
export type ScriptTurn = z.output<typeof turnSchema>
export type ScriptRule = BoundaryScript['rules'][number]
export type ScriptError = z.output<typeof errorSchema>

/** Throws GantryError INVALID_FILE with `file:line:col`, or NOT_FOUND. */
export function readBoundaryScript(path: string): BoundaryScript {
  return readYaml(path, boundaryScriptSchema).value
}
