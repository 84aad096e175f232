import { GantryError } from './error.ts'
import { compilePattern } from './pattern.ts'
import { findPersonal } from './redact/find-secrets.ts'
import { type Redactor, redactBy } from './redact/redact-by.ts'
import type { Finder } from './redact/replace-spans.ts'

export type { Redactor } from './redact/redact-by.ts'

export interface RedactorOptions {
  /** Values known to be secret, for example those of environment variables. Shorter than six characters are passed over. */
  readonly secrets?: readonly string[]
  /** Patterns the user wrote, in RE2 syntax; each match goes whole. */
  readonly patterns?: readonly string[]
  /**
   * Also hide what points to a person: e-mail addresses and user names in home paths. For reports and logs that
   * people pass on; off by default, because run directories lie under the home directory and the paths we
   * print and store must stay usable.
   */
  readonly personal?: boolean
}

/** Throws GantryError USAGE for a pattern that does not parse. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const personal = options.personal === true ? [findPersonal] : []
  return redactBy(options.secrets ?? [], [...personal, ...(options.patterns ?? []).map(findPattern)])
}

/** Finder for a pattern a user wrote; the whole match is hidden. Throws GantryError USAGE for one that does not parse. */
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
