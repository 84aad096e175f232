import { displayWidth } from '../../report/text-width.ts'
import type { ListingBudget } from './contract.ts'

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

/** More of a description and `when_to_use` together is cut off, in UTF-16 units. */
export const longestListed = 1_536

/** The window of the smallest models Claude Code still runs. */
export const defaultContextTokens = 200_000

/**
 * What Claude Code 2.1.325 lists of its own skills, joined by line breaks, when it has to save room. It never leaves out a description
 * of its own before one of a plugin.
 */
const ownCharacters = 6_064

/**
 * Which descriptions the model gets to see, as Claude Code 2.1.325 decides it in a home where no skill was used before: every name
 * is listed; then, in order, each description that still fits. One that does not fit is left out, and a shorter one after it may
 * fit again. Skills that were used often come first there, which nobody can know from the files.
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

/** Columns, as the CLI counts. Telling apart what looks like one character is slow, and rarely needed. */
function widthOf(text: string): number {
  return plain.test(text) ? text.length : displayWidth(text)
}

const plain = /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e]*$/
