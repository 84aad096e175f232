import type { ListingBudget } from './contract.ts'
import type { Notes } from './notes.ts'

/** Says which descriptions of the plugin Claude Code would not tell its model. */
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
