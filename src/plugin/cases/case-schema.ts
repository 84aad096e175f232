import { z } from 'zod'
import { optionalChoice } from '../../core/schema.ts'

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
  arm: optionalChoice(['with-only', 'both'], 'Whether it is scored in the arm without the plugin.'),
}

/** A grader as written by its author. In a separate file, `pattern` and `criteria` may be the text below the keys. */
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

const names = z.array(z.string().min(1))

const headFields = {
  description: z.string().optional(),
  expected_outcome: z.string().optional(),
  tags: names.optional(),
  plugins: names.optional(),
  runs: z.int().min(1).max(50).optional(),
}

const versionSchema = z.string().regex(/^1(?:\.\d+)?$/, 'is an unknown format; use "1.x" as a text')

const runFields = {
  model: z.string().min(1).optional(),
  max_turns: z.int().min(1).max(200).optional(),
  timeout_seconds: z.int().min(1).max(3_600).optional(),
  allowed_tools: names.optional(),
  disallowed_tools: names.optional(),
  append_system_prompt: z.string().optional(),
  env: z
    .record(
      z.string().regex(/^EVAL_[A-Z0-9_]*$/, 'only variables named EVAL_… can be set by a case'),
      z.string(),
    )
    .optional(),
  artifact_publish: z.boolean().optional(),
  growthbook_overrides: z.record(z.string(), z.unknown()).optional(),
}

/** The frontmatter of `prompt.md`. */
export const promptSchema = z.strictObject({
  schema_version: versionSchema.optional(),
  name: z.string().min(1).optional(),
  ...headFields,
  ...runFields,
})

/** `case.yaml`. */
export const caseFileSchema = z.strictObject({
  schema_version: versionSchema,
  name: z.string().min(1),
  ...headFields,
  context: z
    .strictObject({
      scaffold_script: z.string().min(1).optional(),
      history_file: z.string().min(1).optional(),
      add_dirs: names.optional(),
    })
    .optional(),
  execution: z.strictObject({ prompt: z.string().min(1).optional(), ...runFields }).optional(),
  graders: z.array(writtenGraderSchema).min(1).optional(),
})

export type PromptFile = z.output<typeof promptSchema>
export type CaseFile = z.output<typeof caseFileSchema>

/** Keys of the format that have no effect here. */
export const withoutEffect = ['artifact_publish', 'growthbook_overrides'] as const
