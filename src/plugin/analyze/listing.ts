import { counted, formatCount } from '../../core/counted.ts'
import { displayWidth } from '../../report/display-width.ts'
import { componentId } from '../component-list.ts'
import type { CommandComponent, ListingBudget, SkillComponent } from './contract.ts'
import { longestListed } from './note-component.ts'
import type { PluginContent } from './read-plugin.ts'

/** Something Claude Code lists for its model, in its order: commands of all plugins, then skills of all plugins. */
export interface ListedComponent {
  /** Its id; for another plugin, the type and the CLI's name. */
  readonly id: string
  readonly cliName: string
  /** Description and `when_to_use`. */
  readonly text: string
  /** Its second name, if it is shown beside the first. */
  readonly alias: string | null
}

/** Up to this window, Claude Code counts four characters to a token. */
const shortWindow = 200_000

/**
 * What Claude Code 2.1.325 lists of its own skills, joined by line breaks, when space is short. It drops descriptions of plugins
 * before its own.
 */
const ownCharacters = 6_064

/**
 * Which descriptions the model sees, as Claude Code 2.1.325 decides in a home without used skills: every name is listed; then, in
 * order, each description that still fits. One that does not fit is dropped, and a shorter one after it may still fit. In a real
 * home, frequently used skills come first, which the files cannot show.
 */
export function listingBudget(components: readonly ListedComponent[], contextTokens: number): ListingBudget {
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
  return {
    context_tokens: contextTokens,
    budget_characters: budget,
    used_characters: used,
    reserved_characters: ownCharacters,
    entries,
  }
}

/** One percent of the window. Models with a window above 200,000 tokens have about three characters to a token, others four. */
function budgetCharacters(contextTokens: number): number {
  return Math.floor((contextTokens * (contextTokens > shortWindow ? 3 : 4)) / 100)
}

/** Columns, as the CLI counts them. Segmenting graphemes is slow and rarely needed. */
function widthOf(text: string): number {
  return plain.test(text) ? text.length : displayWidth(text)
}

const plain = /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e]*$/

/** The listing of several plugins, the one under test first. Of two components with one name only the first is listed. */
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

/** Reports the descriptions that Claude Code would drop from its listing: one finding, because all have the same cause. */
export function noteListing(
  listing: ListingBudget,
  { commands, skills, notes }: PluginContent,
  contextTokens: number,
): void {
  const own = new Map<string, CommandComponent | SkillComponent>([
    ...commands.map(({ component }) => [componentId('command', component.name), component] as const),
    ...skills.map(({ component }) => [componentId('skill', component.name), component] as const),
  ])
  const dropped = listing.entries.filter(({ component, shown }) => shown === 'dropped' && own.has(component))
  const [first] = dropped
  if (first === undefined) return
  const others = listing.entries.filter(({ component }) => !own.has(component)).length
  const names = dropped.map(({ component }) => component)
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''
  const where = own.get(first.component)
  notes.add('LISTING_DROPPED', {
    message: `with a window of ${formatCount(contextTokens)} tokens Claude Code lists ${counted(dropped.length, 'component')} without a description: the listing has ${formatCount(listing.budget_characters)} characters, of which it takes ${formatCount(listing.reserved_characters ?? 0)} itself${others === 0 ? '' : ` and shares the rest with ${others} components of other plugins`}. Without a description: ${names.slice(0, mostNamed).join(', ')}${more}`,
    components: names,
    ...(where !== undefined && { path: where.path, line: where.line }),
    detail: {
      dropped: dropped.map(({ component, characters }) => ({ component, characters })),
      budget_characters: listing.budget_characters,
      context_tokens: contextTokens,
    },
  })
}

/** The rest is in `components`. */
const mostNamed = 10
