import { z } from 'zod'
import { writtenGraderSchema } from './grader-schema.ts'

const names = z.array(z.string().min(1))

const headFields = {
  description: z.string().optional(),
  expected_outcome: z.string().optional(),
  tags: names.optional(),
  plugins: names.optional(),
  runs: z.int().min(1).max(50).optional(),
}

const versionSchema = z
  .string()
  .regex(/^1(?:\.\d+)?$/, 'is of a format that is not known here: 1.x is, written as a text')

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

/** Above the prompt in `prompt.md`. */
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

/** Keys the format has and nothing here could do with. */
export const withoutEffect = ['artifact_publish', 'growthbook_overrides'] as const
