import { z } from 'zod'
import { agentFailures } from '../../core/event.ts'

const tokens = z.int().min(0).default(0)

const answerSchema = z
  .strictObject({
    match: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Given only to a prompt that contains this text. Makes the script independent of the order of calls.',
      ),
    times: z
      .int()
      .positive()
      .optional()
      .describe('How often it is given. Default: once, or without end when there is a match.'),
    text: z.string().optional().describe('The answer, exactly.'),
    json: z.json().optional().describe('The answer, as JSON.'),
    thinking: z.string().optional().describe('What the model thinks before it answers.'),
    calls: z
      .array(
        z.strictObject({
          name: z.string().min(1).describe('The tool.'),
          input: z.json().default({}).describe('What it is given.'),
        }),
      )
      .min(1)
      .optional()
      .describe('Tools the model wants to use, at the same time. May stand beside text.'),
    error: z.enum(agentFailures).optional().describe('The call fails in this way.'),
    message: z.string().optional().describe('Message of the error.'),
    retry_after_ms: z.int().min(0).optional().describe('What a rate_limit or overloaded error asks to wait.'),
    delay_ms: z.int().min(0).default(0).describe('Time before the answer.'),
    usage: z
      .strictObject({
        input_tokens: tokens,
        output_tokens: tokens,
        cache_read_tokens: tokens,
        cache_write_tokens: tokens,
        thinking_tokens: z
          .int()
          .min(0)
          .optional()
          .describe('The part of output_tokens that is only thought.'),
      })
      .optional()
      .describe('Tokens the answer reports.'),
  })
  .refine(
    ({ text, json, error, calls }) => {
      const kinds = [text, json, error].filter((kind) => kind !== undefined).length
      return calls === undefined ? kinds === 1 : json === undefined && error === undefined
    },
    { error: 'an answer has exactly one of text, json and error, or calls with or without text' },
  )

/** The answers of a scripted model. The first one that still may be given and whose match fits is given. */
export const modelScriptSchema = z.strictObject({
  answers: z.array(z.union([z.string().transform((text) => ({ text, delay_ms: 0 })), answerSchema])).min(1),
})

export type ScriptedAnswer = Partial<z.output<typeof answerSchema>> & { readonly delay_ms: number }
