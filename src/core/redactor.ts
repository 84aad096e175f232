import { GantryError } from './error.ts'
import { compilePattern } from './pattern.ts'
import { findPersonal } from './redact/find-secrets.ts'
import { type Redactor, redactBy } from './redact/redact-by.ts'
import type { Finder } from './redact/replace-spans.ts'

export type { Redactor } from './redact/redact-by.ts'

export interface RedactorOptions {
  /** Known secret values, for example of environment variables. Values shorter than six characters are ignored. */
  readonly secrets?: readonly string[]
  /** User patterns in RE2 syntax. Each match is hidden completely. */
  readonly patterns?: readonly string[]
  /**
   * Also hides personal data: e-mail addresses and user names in home paths. For reports and logs that users share. Off by default,
   * because run directories are in the home directory and printed paths must stay usable.
   */
  readonly personal?: boolean
}

/** Throws GantryError USAGE for a pattern that does not parse. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const personal = options.personal === true ? [findPersonal] : []
  return redactBy(options.secrets ?? [], [...personal, ...(options.patterns ?? []).map(findPattern)])
}

/** Finder for a user pattern. Hides the whole match. Throws GantryError USAGE for a pattern that does not parse. */
function findPattern(source: string): Finder {
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
