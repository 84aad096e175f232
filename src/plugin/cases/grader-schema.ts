import { z } from 'zod'

const targetSchema = z.union([
  z.enum(['last_message', 'trace', 'files', 'mock_calls']),
  z.strictObject({ source: z.literal('file'), path: z.string().min(1) }),
])

const toolSchema = z.strictObject({
  tool: z.string().min(1),
  input_match: z.string().optional().describe('A JavaScript pattern over the JSON of the input.'),
})

const matchSchema = z
  .string()
  .regex(/^(?:contains|not_contains|count:\d+)$/, 'must be contains, not_contains or count:N')

const common = {
  name: z.string().min(1).optional().describe('Default: the name of the file.'),
  weight: z.number().positive().optional().describe('Default 1.'),
  arm: z.enum(['with-only', 'both']).optional().describe('Whether it counts in the arm without the plugin.'),
}

/** A grader as it is written. `pattern` and `criteria` may stand in the text below, when it has a file of its own. */
export const writtenGraderSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z.literal('regex'),
    pattern: z.string().min(1).optional(),
    flags: z
      .string()
      .regex(/^[dgimsuvy]*$/, 'must be flags of a JavaScript pattern: d g i m s u v y')
      .optional(),
    match: matchSchema.optional(),
    target: targetSchema.optional(),
  }),
  z.strictObject({
    ...common,
    ...toolSchema.shape,
    type: z.literal('tool_used'),
    min: z.int().min(0).optional().describe('Default 1.'),
    max: z.int().min(0).optional().describe('Default: no limit.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('tool_order'),
    before: z.union([z.string().min(1), toolSchema]),
    after: z.union([z.string().min(1), toolSchema]),
  }),
  z.strictObject({
    ...common,
    type: z.literal('file_exists'),
    path: z.string().min(1),
    exists: z.boolean().optional(),
  }),
  z.strictObject({
    ...common,
    type: z.literal('llm'),
    criteria: z.string().min(1).optional(),
    focus: targetSchema.optional(),
  }),
  z.strictObject({
    ...common,
    type: z.literal('baseline'),
    baseline_file: z.string().min(1),
    criteria: z.string().min(1).optional(),
  }),
])

export type WrittenGrader = z.output<typeof writtenGraderSchema>
