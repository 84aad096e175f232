import { type ChunkRedactor, createChunkRedactor } from './chunk-redactor.ts'
import { findNamedValues } from './find-named-values.ts'
import { findLiterals, findPrivateKeys, findTokens, literalForms } from './find-secrets.ts'
import { type Finder, findSpans, replaceSpans } from './replace-spans.ts'
import { createValueRedactor } from './value-redactor.ts'

/** Hides built-in patterns, the given secrets, and what `more` finds. Does not load the pattern engine, so hooks start fast. */
export function redactBy(secrets: readonly string[], more: readonly Finder[] = []): Redactor {
  const finders: Finder[] = [findTokens, findNamedValues, findPrivateKeys, ...more]
  if (secrets.length > 0) finders.push(findLiterals(secrets))
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
 * A replacement can create a new match beside it (a new word boundary), so the search repeats until nothing is found. Each round hides
 * more, so it ends; the limit protects against hostile text.
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

/**
 * Secrets are redacted before output reaches disk or screen. Redacting twice equals redacting once, and the time is linear in the
 * length of any text.
 */
export interface Redactor {
  text(text: string): string
  /** Redacts nested JSON-like data. Unchanged parts are not copied. */
  value<T>(value: T): T
  /** For text that arrives in pieces. */
  chunks(): ChunkRedactor
}
