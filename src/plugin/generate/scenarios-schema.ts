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
    .describe('What its input must hold.'),
})
const common = {
  name: text.describe('Of the grader.'),
  weight: z.number().positive().describe('Its share of the score.'),
  arm: z.enum(['default', 'with-only', 'both']).describe('In which arms it is scored.'),
}

const graderSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z.literal('regex'),
    pattern: z.string().describe('What is looked for.'),
    flags: z.string().describe('Of the pattern.'),
    match: z
      .union([
        z.enum(['contains', 'not_contains']),
        z.strictObject({ count: z.int().min(0).describe('Exactly so often.') }),
      ])
      .describe('How often it must be found.'),
    target: target.describe('Where it is looked for.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('tool_used'),
    use: toolPattern.describe('Which calls.'),
    min: z.int().min(0).describe('At least so many.'),
    max: z.int().min(0).nullable().describe('At most so many; null: any number.'),
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
    exists: z.boolean().describe('Whether it must be there.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('llm'),
    criteria: text.describe('What the judge looks for.'),
    focus: target.describe('What the judge sees.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('baseline'),
    baseline_file: text.describe('A stored transcript.'),
    criteria: z.string().describe('What the judge compares.'),
  }),
])

/** What a case of `claude plugin eval` says beyond prompt and expectation, as it stands in a `scenarios.json` of ours. */
// Every key of the contract has to be here: a file of ours must stay readable.
const caseFactsSchema = z.strictObject({
  dir: text.describe('Where the case lies.'),
  graders: z.array(graderSchema).describe('Its graders.'),
  runs: z.int().min(1).exactOptional().describe('How often it is tried.'),
  model: text.exactOptional().describe('Of the agent.'),
  max_turns: z.int().min(1).exactOptional().describe('Answers of the model.'),
  timeout_ms: z.int().min(1).exactOptional().describe('Of one trial.'),
  allowed_tools: z.array(text).exactOptional().describe('Tools that need no permission.'),
  disallowed_tools: z.array(text).exactOptional().describe('Tools the agent does not have.'),
  append_system_prompt: z.string().exactOptional().describe('Behind the system prompt.'),
  env: z.record(z.string(), z.string()).exactOptional().describe('Variables of the agent.'),
  plugins: z.array(text).exactOptional().describe('Further plugins, absolute.'),
  scaffold_script: text.exactOptional().describe('Runs in the workspace first, if allowed.'),
  history_file: text.exactOptional().describe('A transcript to go on with.'),
  add_dirs: z.array(text).exactOptional().describe('Further directories to read.'),
} satisfies Record<keyof EvalCaseFacts, z.ZodType>)

/** Arm and repetition are added to it to name a trial's directory. */
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

/** What a scenario has besides its id; every field that has a default may be left out. */
export const scenarioFields = {
  component_ref: z
    .string()
    .default('')
    .describe('Name of the component it is about. Empty only when graders alone decide.'),
  component_type: z.enum(componentTypes).describe('What kind of component it is about.'),
  expected_component: z.string().exactOptional().describe('Default: component_ref.'),
  scenario_type: z
    .enum(scenarioTypes)
    .exactOptional()
    .describe('Default: negative when no trigger is expected, else direct.'),
  user_prompt: z
    .string()
    .refine((prompt) => prompt.trim() !== '', { error: 'must not be empty' })
    .describe('What is asked of the agent, sent as it is.'),
  expected_trigger: z
    .boolean()
    .exactOptional()
    .describe('Default: false for a negative scenario, else true.'),
  setup_messages: z
    .array(
      z.strictObject({
        role: z.enum(['user', 'assistant']).describe('Who said it.'),
        content: z
          .string()
          .refine((content) => content.trim() !== '', { error: 'must not be empty' })
          .describe('What was said.'),
      }),
    )
    .exactOptional()
    .describe('What was said before, in order.'),
  setup_context: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Older spelling: one message of the user before.'),
  original_trigger_phrase: z.string().exactOptional().describe('The phrase it says in other words.'),
  semantic_variation_type: z
    .enum(semanticVariationTypes)
    .exactOptional()
    .describe('In which way it says so.'),
  expected_file_reference: z.string().min(1).exactOptional().describe('Older spelling, for one file.'),
  expected_file_references: z
    .array(z.string().min(1))
    .exactOptional()
    .describe('Files the prompt refers to with @.'),
  reasoning: z.string().exactOptional().describe('Why it should end so, for people.'),
  origin: z
    .enum(['model', 'template', 'fallback', 'file', 'case'])
    .default('file')
    .describe('Where it came from.'),
  tags: z.array(z.string().min(1)).exactOptional().describe('For people, and for reports.'),
  files: z
    .record(workspacePath, z.string())
    .exactOptional()
    .describe('Files the workspace begins with: path and content.'),
  needs_tools: z
    .array(z.string().min(1))
    .exactOptional()
    .describe('Tools it cannot do without, although they are disallowed by default.'),
  case: caseFactsSchema.exactOptional().describe('What a case of `claude plugin eval` says beyond it.'),
} satisfies Record<Exclude<keyof PluginScenario, 'id'>, z.ZodType> & Record<string, z.ZodType>

const scenarioSchema = z
  .strictObject({ id: idSchema, ...scenarioFields })
  .refine(({ component_ref, case: facts }) => component_ref !== '' || (facts?.graders.length ?? 0) > 0, {
    path: ['component_ref'],
    error: 'must name a component: only a case with graders can do without',
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
      error: 'say setup_messages or setup_context, not both',
    },
  )
  .refine(
    ({ expected_file_reference, expected_file_references }) =>
      expected_file_reference === undefined || expected_file_references === undefined,
    { path: ['expected_file_reference'], error: 'say expected_file_references alone' },
  )

export type WrittenScenario = z.output<typeof scenarioSchema>

/** Hand-written scenarios, and the `scenarios.json` of a run. A bare list will do. */
export const scenariosFileSchema = z.union([
  z.strictObject({
    $schema: z.string().exactOptional().describe('For editors.'),
    schema_version: z.literal(1).exactOptional(),
    plugin_name: z.string().exactOptional().describe('The plugin they are about, for people.'),
    scenarios: z.array(scenarioSchema).min(1).describe('The scenarios.'),
  }),
  z.array(scenarioSchema).min(1),
])
