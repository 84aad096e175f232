import { GantryError } from '../error.ts'
import { compilePattern } from '../pattern.ts'
import type { Finder } from './finder.ts'

/** Finder for a pattern a user wrote; the whole match is hidden. Throws GantryError USAGE for one that does not parse. */
export function findPattern(source: string): Finder {
  const compiled = compilePattern(source)
  if (compiled.kind === 'bad')
    throw new GantryError(
      'USAGE',
      `the redaction pattern '${source}' cannot be used: ${compiled.message}`,
      compiled.hint === undefined ? {} : { hint: compiled.hint },
    )
  return (text, found) => {
    for (const match of compiled.pattern.matchAll(text))
      if (match.text !== '') found(match.index, match.index + match.text.length)
  }
}
