import { compilePattern } from '../../core/pattern.ts'
import type { Finder } from '../../core/redact/finder.ts'
import { findCardNumbers } from './find-card-numbers.ts'

/** Something that points to a person, or that is worth money, and what stands there instead. */
export interface PersonalPattern {
  readonly name: string
  readonly placeholder: string
  readonly find: Finder
}

/** The most specific first: what one of them takes, the next no longer sees. */
export const personalPatterns: readonly PersonalPattern[] = [
  {
    name: 'key in a URL',
    placeholder: '[REDACTED_KEY]',
    find: (text, found) => {
      if (!/[?&]key=/i.test(text)) return
      for (const { index, text: whole, groups } of matches('(?i)[?&]key=([^&\\s"\'<>#\\\\]+)', text))
        found(index + whole.length - (groups[0] ?? '').length, index + whole.length)
    },
  },
  {
    name: 'e-mail address',
    placeholder: '[REDACTED_EMAIL]',
    find: (text, found) => {
      if (!text.includes('@')) return
      const pattern = '[\\p{L}\\p{N}._%+\\-]+@[\\p{L}\\p{N}\\-]+(?:\\.[\\p{L}\\p{N}\\-]+)*\\.\\p{L}{2,}'
      for (const { index, text: whole } of matches(pattern, text)) found(index, index + whole.length)
    },
  },
  { name: 'card number', placeholder: '[REDACTED_CARD]', find: findCardNumbers },
  {
    name: 'social security number',
    placeholder: '[REDACTED_SSN]',
    find: betweenDigits('\\d{3}-\\d{2}-\\d{4}', (number) => !/^(?:000|666|9)|-00-|-0000$/.test(number)),
  },
  {
    name: 'US phone number',
    placeholder: '[REDACTED_PHONE]',
    find: betweenDigits(
      '(?:\\+?1[ .\\-]?)?(?:\\(\\d{3}\\) ?|\\d{3}[ .\\-])\\d{3}[ .\\-]\\d{4}|\\+1\\d{10}',
      () => true,
    ),
  },
]

/** Matches that are no part of a longer number. */
function betweenDigits(pattern: string, accepts: (match: string) => boolean): Finder {
  return (text, found) => {
    if (!/\d{4}/.test(text)) return
    for (const { index, text: whole } of matches(pattern, text)) {
      const end = index + whole.length
      const goesOn =
        /\d[.-]?$/.test(text.slice(Math.max(0, index - 2), index)) ||
        /^[.-]?\d/.test(text.slice(end, end + 2))
      if (!goesOn && accepts(whole)) found(index, index + whole.length)
    }
  }
}

function matches(source: string, text: string) {
  const compiled = compilePattern(source)
  return compiled.kind === 'ok' ? compiled.pattern.matchAll(text) : []
}
