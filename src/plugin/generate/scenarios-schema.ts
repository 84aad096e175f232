import { z } from 'zod'
import { componentTypes } from '../contract.ts'
import { type EvalCaseFacts, type PluginScenario, scenarioTypes, semanticVariationTypes } from './contract.ts'

const text = z.string().min(1)
const target = z.union([
  z.enum(['last_message', 'trace', 'files', 'mock_calls']),
  z.strictObject({
    source: z.literal('file'),
    path: text.describe('In the workspace.'),
  }),
])
const toolPattern = z.strictObject({
  tool: text.describe('Name of the tool.'),
  input_match: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .exactOptional()
    .describe('What its input must contain.'),
})
const common = {
  name: text.describe('Name of the grader.'),
  weight: z.number().positive().describe('Its share of the score.'),
  arm: z.enum(['default', 'with-only', 'both']).describe('In which arms it is scored.'),
}

const graderSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z.literal('regex'),
    pattern: z.string().describe('The pattern.'),
    flags: z.string().describe('Flags of the pattern.'),
    match: z
      .union([
        z.enum(['contains', 'not_contains']),
        z.strictObject({ count: z.int().min(0).describe('Exact number of matches.') }),
      ])
      .describe('How often the pattern must match.'),
    target: target.describe('The text that is searched.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('tool_used'),
    use: toolPattern.describe('Which calls.'),
    min: z.int().min(0).describe('Minimum number of calls.'),
    max: z.int().min(0).nullable().describe('Maximum number of calls; null: no limit.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('tool_order'),
    before: toolPattern.describe('First.'),
    after: toolPattern.describe('Then.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('file_exists'),
    path: text.describe('A glob in the workspace.'),
    exists: z.boolean().describe('Whether the file must exist.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('llm'),
    criteria: text.describe('What the judge checks.'),
    focus: target.describe('What the judge sees.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('baseline'),
    baseline_file: text.describe('A stored transcript.'),
    criteria: z.string().describe('What the judge compares.'),
  }),
])

/** The fields of a `claude plugin eval` case beyond prompt and expectation, as written to `scenarios.json`. */
// Every key of the contract must be here: our own files must stay readable.
const caseFactsSchema = z.strictObject({
  dir: text.describe('Directory of the case.'),
  graders: z.array(graderSchema).describe('Its graders.'),
  runs: z.int().min(1).exactOptional().describe('How often it is run.'),
  model: text.exactOptional().describe('Model of the agent.'),
  max_turns: z.int().min(1).exactOptional().describe('Maximum number of model responses.'),
  timeout_ms: z.int().min(1).exactOptional().describe('Time limit of one trial.'),
  allowed_tools: z.array(text).exactOptional().describe('Tools that are allowed without asking.'),
  disallowed_tools: z.array(text).exactOptional().describe('Tools the agent cannot use.'),
  append_system_prompt: z.string().exactOptional().describe('Appended to the system prompt.'),
  env: z.record(z.string(), z.string()).exactOptional().describe('Environment variables of the agent.'),
  plugins: z.array(text).exactOptional().describe('Additional plugins, absolute paths.'),
  scaffold_script: text.exactOptional().describe('Runs in the workspace before the agent, if allowed.'),
  history_file: text.exactOptional().describe('A transcript to continue.'),
  add_dirs: z.array(text).exactOptional().describe('Additional directories the agent may read.'),
} satisfies Record<keyof EvalCaseFacts, z.ZodType>)

/** Arm and repetition are appended to it in the name of a trial's directory. */
const maxId = 120

const idSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, {
    error: 'must be a file name: letters, digits, ".", "_" and "-", beginning with a letter or digit',
  })
  .max(maxId)
  .describe('Unique in a run; a file name.')

/** A path that stays in the workspace. */
const workspacePath = z
  .string()
  .min(1)
  .refine(
    (path) => !path.startsWith('/') && !/^[A-Za-z]:/.test(path) && !path.split(/[\\/]/).includes('..'),
    {
      error: 'must be a path inside the workspace',
    },
  )

/** All fields of a scenario but its id; fields with a default are optional. */
export const scenarioFields = {
  component_ref: z
    .string()
    .default('')
    .describe('Name of the component under test. Empty only when graders alone decide.'),
  component_type: z.enum(componentTypes).describe('Type of the component under test.'),
  expected_component: z.string().exactOptional().describe('Default: component_ref.'),
  scenario_type: z
    .enum(scenarioTypes)
    .exactOptional()
    .describe('Default: negative when no trigger is expected, else direct.'),
  user_prompt: z
    .string()
    .refine((prompt) => prompt.trim() !== '', { error: 'must not be empty' })
    .describe('The prompt, sent unchanged.'),
  expected_trigger: z
    .boolean()
    .exactOptional()
    .describe('Default: false for a negative scenario, else true.'),
  setup_messages: z
    .array(
      z.strictObject({
        role: z.enum(['user', 'assistant']).describe('Author of the message.'),
        content: z
          .string()
          .refine((content) => content.trim() !== '', { error: 'must not be empty' })
          .describe('Text of the message.'),
      }),
    )
    .exactOptional()
    .describe('Earlier messages of the conversation, in order.'),
  setup_context: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Older spelling: one earlier message of the user.'),
  original_trigger_phrase: z
    .string()
    .exactOptional()
    .describe('The trigger phrase that the prompt rephrases.'),
  semantic_variation_type: z
    .enum(semanticVariationTypes)
    .exactOptional()
    .describe('How it rephrases the phrase.'),
  expected_file_reference: z.string().min(1).exactOptional().describe('Older spelling, for one file.'),
  expected_file_references: z
    .array(z.string().min(1))
    .exactOptional()
    .describe('Files the prompt refers to with @.'),
  reasoning: z.string().exactOptional().describe('Why this outcome is expected, for readers.'),
  origin: z
    .enum(['model', 'template', 'fallback', 'file', 'case'])
    .default('file')
    .describe('Where it came from.'),
  tags: z.array(z.string().min(1)).exactOptional().describe('Shown in reports.'),
  files: z
    .record(workspacePath, z.string())
    .exactOptional()
    .describe('Initial files of the workspace: path and content.'),
  needs_tools: z
    .array(z.string().min(1))
    .exactOptional()
    .describe('Tools it needs, even when they are disallowed by default.'),
  case: caseFactsSchema.exactOptional().describe('Further fields of a `claude plugin eval` case.'),
} satisfies Record<Exclude<keyof PluginScenario, 'id'>, z.ZodType> & Record<string, z.ZodType>

const scenarioSchema = z
  .strictObject({ id: idSchema, ...scenarioFields })
  .refine(({ component_ref, case: facts }) => component_ref !== '' || (facts?.graders.length ?? 0) > 0, {
    path: ['component_ref'],
    error: 'must name a component, unless it is a case with graders',
  })
  .refine(
    ({ scenario_type, expected_trigger }) =>
      scenario_type === undefined ||
      scenario_type === 'edge_case' ||
      expected_trigger === undefined ||
      expected_trigger === (scenario_type !== 'negative'),
    {
      path: ['expected_trigger'],
      error: 'contradicts scenario_type: a negative scenario expects no trigger, the others expect one',
    },
  )
  .refine(
    ({ setup_messages, setup_context }) => setup_messages === undefined || setup_context === undefined,
    {
      path: ['setup_context'],
      error: 'use setup_messages or setup_context, not both',
    },
  )
  .refine(
    ({ expected_file_reference, expected_file_references }) =>
      expected_file_reference === undefined || expected_file_references === undefined,
    { path: ['expected_file_reference'], error: 'use only expected_file_references' },
  )

export type WrittenScenario = z.output<typeof scenarioSchema>

/** Hand-written scenarios, and the `scenarios.json` of a run. A bare list is accepted. */
export const scenariosFileSchema = z.union([
  z.strictObject({
    $schema: z.string().exactOptional().describe('For editors.'),
    schema_version: z.literal(1).exactOptional(),
    plugin_name: z.string().exactOptional().describe('Name of the plugin, for readers.'),
    scenarios: z.array(scenarioSchema).min(1).describe('The scenarios.'),
  }),
  z.array(scenarioSchema).min(1),
])
