import { componentId } from '../component-list.ts'
import type { ListedComponent } from './listing.ts'
import type { PluginParts } from './read-plugin.ts'

/** What is listed of several plugins, the one under test first. Of two components with one name only the first is listed. */
export function listedComponents(plugins: readonly PluginParts[]): readonly ListedComponent[] {
  const [own] = plugins
  const found = (['command', 'skill'] as const).flatMap((type) =>
    plugins.flatMap((parts) =>
      (type === 'command' ? parts.commands : parts.skills).map(({ component, listed, alias }) => ({
        id: componentId(type, parts === own ? component.name : component.cli_name),
        cliName: component.cli_name,
        text: listed,
        alias,
      })),
    ),
  )
  const taken = new Set(found.map(({ cliName }) => cliName))
  const listed = new Set<string>()
  return found.flatMap(({ id, cliName, text, alias }) => {
    // A second name is shown unless it has odd characters, or somebody has it already: also somebody who is not listed.
    const isShown = alias !== null && shownName.test(alias) && !taken.has(alias)
    if (alias !== null) taken.add(alias)
    if (text === null || listed.has(cliName)) return []
    listed.add(cliName)
    return [{ id, cliName, text, alias: isShown ? alias : null }]
  })
}

const shownName = /^[\p{L}\p{N}_.:-]+$/u

/** Where the components of a plugin that can be listed stand, by their ids. */
export function placesOf({
  commands,
  skills,
}: PluginParts): ReadonlyMap<string, { readonly path: string; readonly line?: number }> {
  return new Map<string, { readonly path: string; readonly line?: number }>([
    ...commands.map(({ component }) => [componentId('command', component.name), component] as const),
    ...skills.map(({ component }) => [componentId('skill', component.name), component] as const),
  ])
}
