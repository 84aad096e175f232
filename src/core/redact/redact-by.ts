import { type ChunkRedactor, createChunkRedactor } from './chunk-redactor.ts'
import { findNamedValues } from './find-named-values.ts'
import { findLiterals, findPrivateKeys, findTokens, literalForms } from './find-secrets.ts'
import { type Finder, findSpans, replaceSpans } from './replace-spans.ts'
import { createValueRedactor } from './value-redactor.ts'

/** What is always hidden, the given secrets, and what `more` finds. Loads no engine for patterns: a hook must start fast. */
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
