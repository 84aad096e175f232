import { type ChunkRedactor, createChunkRedactor } from './redact/chunk-redactor.ts'
import { findLiterals, literalForms } from './redact/find-literals.ts'
import { findNamedValues } from './redact/find-named-values.ts'
import { findPattern } from './redact/find-pattern.ts'
import { findPersonal } from './redact/find-personal.ts'
import { findPrivateKeys } from './redact/find-private-keys.ts'
import { findTokens } from './redact/find-tokens.ts'
import type { Finder } from './redact/finder.ts'
import { findSpans, replaceSpans } from './redact/replace-spans.ts'
import { createValueRedactor } from './redact/value-redactor.ts'

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

/**
 * Secrets are always redacted, before anything reaches disk or screen. Redacting twice changes nothing more, and time
 * grows with the length of the text only, whatever it contains.
 */
export interface Redactor {
  text(text: string): string
  /** JSON-like data, deep; what needs no change is returned as it is. */
  value<T>(value: T): T
  /** For text that arrives in pieces. */
  chunks(): ChunkRedactor
}

/** Throws GantryError USAGE for a pattern that does not parse. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const secrets = options.secrets ?? []
  const finders: Finder[] = [findTokens, findNamedValues, findPrivateKeys]
  if (options.personal === true) finders.push(findPersonal)
  if (secrets.length > 0) finders.push(findLiterals(secrets))
  finders.push(...(options.patterns ?? []).map(findPattern))
  const text = (original: string): string => redactText(original, finders)
  return {
    text,
    value: createValueRedactor(text),
    chunks: () =>
      createChunkRedactor({
        redact: text,
        findSpans: (whole) => findSpans(whole, finders),
        multiline: literalForms(secrets).filter((form) => /[\r\n]/.test(form)),
      }),
  }
}

/**
 * A replacement can lay bare what stood beside it (a word boundary that was none before), so the text is looked at again
 * until nothing is found. Each round hides more, so it ends; the bound keeps hostile text from buying time.
 */
function redactText(original: string, finders: readonly Finder[]): string {
  let text = original
  for (let round = 0; round < 8; round += 1) {
    const next = replaceSpans(text, findSpans(text, finders))
    if (next === text) return text
    text = next
  }
  return text
}
