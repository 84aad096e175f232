import { displayWidth } from '../../report/text-width.ts'
import { componentId } from '../component-list.ts'
import type { ListingBudget } from './contract.ts'
import { longestListed } from './listed-text.ts'
import type { Notes } from './notes.ts'
import type { PluginContent } from './read-plugin.ts'

/** Something Claude Code lists for its model, in its order: commands of all plugins, then skills of all plugins. */
export interface ListedComponent {
  /** Its id; of another plugin, the type and the name the CLI has for it. */
  readonly id: string
  readonly cliName: string
  /** Description and occasion. */
  readonly text: string
  /** Its second name, where that is shown beside the first. */
  readonly alias: string | null
}

/** The window of the smallest models Claude Code still runs. */
export const defaultContextTokens = 200_000

/**
 * What Claude Code 2.1.325 lists of its own skills, joined by line breaks, when space is short. It never drops a description of its own
 * before one of a plugin.
 */
const ownCharacters = 6_064

/**
 * Which descriptions the model gets to see, as Claude Code 2.1.325 decides it in a home where no skill was used before: every name
 * is listed; then, in order, each description that still fits. One that does not fit is dropped, and a shorter one after it may
 * fit again. In a real home, skills that were used often come first; the files cannot show that.
 */
export function listingBudget(
  components: readonly ListedComponent[],
  contextTokens: number = defaultContextTokens,
): ListingBudget {
  const budget = budgetCharacters(contextTokens)
  const lines = components.map((component) => {
    const { cliName, id } = component
    const alias = component.alias === null ? '' : ` (${component.alias})`
    const isCut = component.text.length > longestListed
    const text = isCut ? `${component.text.slice(0, longestListed - 1)}…` : component.text
    return { id, isCut, nameWidth: widthOf(`- ${cliName}${alias}`) + 1, textWidth: widthOf(`: ${text}`) }
  })
  let used = ownCharacters + lines.reduce((sum, { nameWidth }) => sum + nameWidth, 0)
  const entries = lines.map(({ id, isCut, nameWidth, textWidth }) => {
    const fits = used + textWidth <= budget
    if (fits) used += textWidth
    const shown = !fits ? 'dropped' : isCut ? 'cut' : 'whole'
    return { component: id, characters: nameWidth + textWidth, shown } as const
  })
  return { budget_characters: budget, used_characters: used, reserved_characters: ownCharacters, entries }
}

/** One percent of the window. Models with a window above 200,000 tokens have about three characters to a token, others four. */
function budgetCharacters(contextTokens: number): number {
  return Math.floor((contextTokens * (contextTokens > defaultContextTokens ? 3 : 4)) / 100)
}

/** Columns, as the CLI counts them. Segmenting graphemes is slow and rarely needed. */
function widthOf(text: string): number {
  return plain.test(text) ? text.length : displayWidth(text)
}

const plain = /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e]*$/

/** What is listed of several plugins, the one under test first. Of two components with one name only the first is listed. */
export function listedComponents(plugins: readonly PluginContent[]): readonly ListedComponent[] {
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
    // An alias is shown unless it has odd characters or is taken, also by a component that is not listed.
    const isShown = alias !== null && shownName.test(alias) && !taken.has(alias)
    if (alias !== null) taken.add(alias)
    if (text === null || listed.has(cliName)) return []
    listed.add(cliName)
    return [{ id, cliName, text, alias: isShown ? alias : null }]
  })
}

const shownName = /^[\p{L}\p{N}_.:-]+$/u

/** File and line of the components that can be listed, by id. */
export function placesOf({
  commands,
  skills,
}: PluginContent): ReadonlyMap<string, { readonly path: string; readonly line?: number }> {
  return new Map<string, { readonly path: string; readonly line?: number }>([
    ...commands.map(({ component }) => [componentId('command', component.name), component] as const),
    ...skills.map(({ component }) => [componentId('skill', component.name), component] as const),
  ])
}

/** Reports the descriptions that Claude Code would drop from its listing. */
export function noteListing(
  listing: ListingBudget,
  own: ReadonlyMap<string, { readonly path: string; readonly line?: number }>,
  contextTokens: number,
  notes: Notes,
): void {
  const dropped = listing.entries.filter(({ component, shown }) => shown === 'dropped' && own.has(component))
  const others = listing.entries.filter(({ component }) => !own.has(component)).length
  const window = contextTokens.toLocaleString('en')
  for (const { component, characters } of dropped) {
    const where = own.get(component)
    notes.add('LISTING_DROPPED', {
      message: `with a window of ${window} tokens Claude Code lists ${component} without its description: the listing has ${listing.budget_characters.toLocaleString('en')} characters, of which it takes ${listing.reserved_characters?.toLocaleString('en') ?? 0} itself${others === 0 ? '' : ` and shares the rest among ${others} components of other plugins, too`}`,
      suggestion: 'Shorten the descriptions, most of all those that come first in the listing.',
      components: [component],
      ...(where !== undefined && { path: where.path, line: where.line }),
      detail: { characters, budget_characters: listing.budget_characters, context_tokens: contextTokens },
    })
  }
}
