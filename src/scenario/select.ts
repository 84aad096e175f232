import picomatch from 'picomatch'
import { GantryError } from '../core/error.ts'
import { compilePattern } from '../core/pattern.ts'
import type { Scenario } from './schema.ts'

export interface Selection {
  /** Globs, or regular expressions between slashes, on the scenario's name; any match keeps it. */
  readonly filters?: readonly string[]
  readonly tags?: readonly string[]
  /** Demand every tag instead of any. */
  readonly allTags?: boolean
  /** Keeps scenarios up to this tier. */
  readonly tier?: number
}

/** A predicate over scenarios. Throws USAGE for a filter that is no pattern. */
export function selectScenarios(
  selection: Selection,
): (scenario: Pick<Scenario, 'name' | 'tags' | 'tier'>) => boolean {
  const named = (selection.filters ?? []).map(nameMatcher)
  const tags = selection.tags ?? []
  return (scenario) => {
    const has = (tag: string): boolean => scenario.tags.includes(tag)
    const tagged = tags.length === 0 || (selection.allTags === true ? tags.every(has) : tags.some(has))
    const inTier = selection.tier === undefined || scenario.tier <= selection.tier
    return tagged && inTier && (named.length === 0 || named.some((matches) => matches(scenario.name)))
  }
}

function nameMatcher(filter: string): (name: string) => boolean {
  const expression = /^\/(.*)\/(i?)$/s.exec(filter)
  if (expression === null) {
    const matches = picomatch(filter, { nocase: true, bash: true })
    // A plain word is what people type to narrow a run down: it matches anywhere in the name.
    return (name) =>
      matches(name) || (!/[*?[{]/.test(filter) && name.toLowerCase().includes(filter.toLowerCase()))
  }
  const compiled = compilePattern(`${expression[2] === 'i' ? '(?i)' : ''}${expression[1]}`)
  if (compiled.kind === 'bad') {
    throw new GantryError('USAGE', `--filter ${filter}: ${compiled.message}`, {
      hint:
        compiled.hint ??
        'Write a regular expression in RE2 syntax between the slashes, or a glob without them.',
    })
  }
  return (name) => compiled.pattern.test(name)
}
