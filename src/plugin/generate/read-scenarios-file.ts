import { fileProblem, readYaml } from '../../io/yaml.ts'
import type { PluginScenario, SetupMessage } from './contract.ts'
import { scenariosFileSchema, type WrittenScenario } from './scenarios-schema.ts'

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

function toScenario(written: WrittenScenario): PluginScenario {
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
