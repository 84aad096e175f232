import { z } from 'zod'
import { choice } from '../../core/schema.ts'
import { fileProblem, readYaml } from '../../io/yaml.ts'
import { componentTypes } from '../contract.ts'
import { caseFactsSchema } from './case-schema.ts'
import { type PluginScenario, type SetupMessage, scenarioTypes, semanticVariationTypes } from './contract.ts'

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
    { error: 'must be a path inside the workspace' },
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
  origin: choice(['model', 'template', 'fallback', 'file', 'case'], 'file', 'Origin of the scenario.'),
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
    { path: ['setup_context'], error: 'use setup_messages or setup_context, not both' },
  )
  .refine(
    ({ expected_file_reference, expected_file_references }) =>
      expected_file_reference === undefined || expected_file_references === undefined,
    { path: ['expected_file_reference'], error: 'use only expected_file_references' },
  )

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

/**
 * Reads hand-written scenarios from a YAML or JSON file and fills in the defaults. Throws GantryError INVALID_FILE with
 * `file:line:col`, or NOT_FOUND. Whether the components exist is checked when scenarios are merged.
 */
export async function readScenariosFile(path: string): Promise<readonly PluginScenario[]> {
  const source = readYaml(path, scenariosFileSchema)
  const isList = Array.isArray(source.value)
  const written = Array.isArray(source.value) ? source.value : source.value.scenarios
  const first = new Map<string, number>()
  for (const [index, { id }] of written.entries()) {
    const at = isList ? [index, 'id'] : ['scenarios', index, 'id']
    const earlier = first.get(id.toLowerCase())
    if (earlier !== undefined)
      throw fileProblem(
        source,
        at,
        `the id '${id}' is taken by scenario ${earlier + 1}`,
        'Ids become file names, and some file systems ignore case.',
      )
    first.set(id.toLowerCase(), index)
  }
  return written.map(toScenario)
}

export function toScenario(written: z.output<typeof scenarioSchema>): PluginScenario {
  const {
    expected_component,
    scenario_type,
    expected_trigger,
    setup_messages,
    setup_context,
    expected_file_reference,
    expected_file_references,
    ...rest
  } = written
  const expected = expected_trigger ?? scenario_type !== 'negative'
  const setup: readonly SetupMessage[] | undefined =
    setup_context === undefined ? setup_messages : [{ role: 'user', content: setup_context }]
  const references =
    expected_file_reference === undefined ? expected_file_references : [expected_file_reference]
  return {
    ...rest,
    expected_component: expected_component ?? written.component_ref,
    scenario_type: scenario_type ?? (expected ? 'direct' : 'negative'),
    expected_trigger: expected,
    ...(setup !== undefined && { setup_messages: setup }),
    ...(references !== undefined && { expected_file_references: references }),
  }
}
