import { compilePattern } from '../../core/pattern.ts'
import type { Finder } from '../../core/redact/replace-spans.ts'

const digitRun = /\d(?:[ -]?\d){12,}/g

/** Payment card numbers, also in groups: recognised by first digits, length and check digit. */
const findCardNumbers: Finder = (text, found) => {
  for (const match of text.matchAll(digitRun)) {
    const run = match[0]
    const ends = edges(run, 'end')
    let from = 0
    let after = 0
    for (const start of edges(run, 'start')) {
      if (start < after || !/[2-6]/.test(run.charAt(start))) continue
      // Only near ends can belong to the same number, so a long run is scanned once.
      while ((ends[from] ?? Infinity) < start + fewestDigits) from += 1
      const end = endOfCard(run, start, ends, from)
      if (end === null) continue
      found(match.index + start, match.index + end)
      after = end
    }
  }
}

const fewestDigits = 13
const mostDigits = 19
/** With a separator between digits. */
const longest = 2 * mostDigits - 1

/** The longest number counts. */
function endOfCard(run: string, start: number, ends: readonly number[], from: number): number | null {
  let found: number | null = null
  for (let index = from; index < ends.length; index++) {
    const end = ends[index] ?? run.length
    if (end > start + longest) break
    if (isCard(run.slice(start, end))) found = end
  }
  return found
}

export function isCard(text: string): boolean {
  if (text.length > longest) return false
  const digits = text.replaceAll(/[ -]/g, '')
  if (digits.length < fewestDigits || digits.length > mostDigits) return false
  return issuers.some((issuer) => issuer.test(digits)) && hasCheckDigit(digits)
}

const issuers = [
  /^4(?:\d{12}|\d{15}|\d{18})$/,
  /^(?:5[1-5]|2[2-7])\d{14}$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-5]|[689]\d)\d{11}$/,
  /^35\d{14}$/,
  /^6(?:011|5\d\d|4[4-9]\d|2\d\d)\d{12,15}$/,
]

/** The Luhn checksum. */
function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}

/** Where a number may begin or end inside a run of groups: never in the middle of a group. */
function edges(run: string, side: 'start' | 'end'): readonly number[] {
  const inner = [...run.matchAll(/[ -]/g)].map(({ index }) => (side === 'start' ? index + 1 : index))
  return side === 'start' ? [0, ...inner] : [...inner, run.length]
}

/** Personal or financial data, and its replacement. */
export interface PersonalPattern {
  readonly name: string
  readonly placeholder: string
  readonly find: Finder
}

/** The most specific first: later patterns do not see replaced text. */
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

/** Matches that are not part of a longer number. */
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
