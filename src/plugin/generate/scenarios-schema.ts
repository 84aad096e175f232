import { z } from 'zod'
import { componentTypes } from '../contract.ts'
import { caseFactsSchema } from './case-facts-schema.ts'
import { type PluginScenario, scenarioTypes } from './contract.ts'
import { semanticVariationTypes } from './semantic-variations.ts'

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
