import { GantryError } from '../../core/error.ts'
import { nearest } from '../../core/nearest.ts'
import { normalText } from '../../core/normal-text.ts'
import type { Analysis } from '../analyze/contract.ts'
import { componentLabel, componentList } from '../component-list.ts'
import { normalName } from '../evaluate/detection/known-components.ts'
import type { PluginScenario } from './contract.ts'

export type Merged = ReturnType<typeof mergeScenarios>

/**
 * Merges hand-written scenarios (files and cases) with generated ones, in this order. Hand-written ones always stay. Planned ones
 * without a text yet are never duplicates. Throws GantryError INVALID_FILE when two hand-written ones have the same id, or one is
 * about a component that does not exist.
 */
export function mergeScenarios(
  analysis: Pick<Analysis, 'components' | 'plugin_name'>,
  {
    handWritten,
    generated,
  }: { readonly handWritten: readonly PluginScenario[]; readonly generated: readonly PluginScenario[] },
) {
  const ids = new Set<string>()
  for (const scenario of handWritten) {
    if (ids.has(scenario.id.toLowerCase()))
      throw new GantryError('INVALID_FILE', `two scenarios have the id '${scenario.id}'`, {
        hint: 'Ids are unique in a run, across all scenario files and the cases of the plugin. Rename one of them.',
      })
    ids.add(scenario.id.toLowerCase())
    requireComponent(scenario, analysis)
  }
  const known = new Set(handWritten.map(wordsOf))
  const kept: PluginScenario[] = []
  /** Generated ones that a hand-written one with the same id replaced. */
  const replaced: string[] = []
  /** Generated ones with the same text as another scenario of their component. */
  const duplicates: string[] = []
  for (const scenario of generated) {
    const words = wordsOf(scenario)
    if (ids.has(scenario.id.toLowerCase())) replaced.push(scenario.id)
    else if (scenario.user_prompt !== '' && known.has(words)) duplicates.push(scenario.id)
    else kept.push(scenario)
    known.add(words)
  }
  return { scenarios: [...handWritten, ...kept], replaced, duplicates }
}

/** Includes the setup messages. */
function wordsOf({
  component_type,
  component_ref,
  user_prompt,
  setup_messages = [],
}: PluginScenario): string {
  const known = [...setup_messages.map(({ content }) => content), user_prompt].map(wordsIn)
  return JSON.stringify([component_type, component_ref, ...known])
}

/** `/a:b` and `/a b` are two commands. */
function wordsIn(text: string): string {
  return text.startsWith('/') ? text.trim() : normalText(text)
}

function requireComponent(
  { id, component_ref, expected_component, component_type }: PluginScenario,
  { components, plugin_name }: Pick<Analysis, 'components' | 'plugin_name'>,
): void {
  for (const written of new Set([component_ref, expected_component])) {
    if (written === '') continue
    const all = componentList(components)
    const named = all.filter(({ component: { name, cli_name } }) =>
      [name, cli_name].some((own) => own === written || normalName(own) === normalName(written)),
    )
    if (named.some(({ type }) => type === component_type)) continue
    const [other] = named
    const ofType = all.filter(({ type }) => type === component_type).map(({ component }) => component.name)
    const near = nearest(written, ofType)
    throw new GantryError(
      'INVALID_FILE',
      `the scenario '${id}' is about the ${componentLabel(component_type, written)}, which ${plugin_name} does not have`,
      {
        hint:
          other !== undefined
            ? `There is the ${componentLabel(other.type, other.component.name)}: change component_type.`
            : near !== undefined
              ? `Did you mean '${near}'?`
              : ofType.length === 0
                ? `The plugin has no component of type ${component_type}.`
                : `It has: ${ofType.join(', ')}.`,
      },
    )
  }
}
