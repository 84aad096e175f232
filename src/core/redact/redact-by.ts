import { createChunkRedactor } from './chunk-redactor.ts'
import { findLiterals, literalForms } from './find-literals.ts'
import { findNamedValues } from './find-named-values.ts'
import { findPrivateKeys } from './find-private-keys.ts'
import { findTokens } from './find-tokens.ts'
import type { Finder } from './finder.ts'
import type { Redactor } from './redactor.ts'
import { findSpans, replaceSpans } from './replace-spans.ts'
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
