import { GantryError } from '../../core/error.ts'
import { compilePattern, type Pattern } from '../../core/pattern.ts'
import type { Finder } from '../../core/redact/replace-spans.ts'
import { createValueRedactor } from '../../core/redact/value-redactor.ts'
import { createRedactor } from '../../core/redactor.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { checkCustomPatterns, type Sanitization } from './check-custom-patterns.ts'

/** Hides secrets and personal data in a text, or in every text of JSON-like data. Values without a match are returned unchanged. */
export type Sanitizer = <T>(value: T) => T

export interface SanitizerOptions {
  /** Hides secrets; always applied. Default: secrets recognised by shape or by name. */
  readonly redact?: (text: string) => string
}

export const oversized = '[REDACTED_OVERSIZED_CONTENT]'

/** Sanitizers for both places according to the configuration. Where sanitizing is off, only secrets are hidden. */
export function createSanitizers(output: PluginConfig['output'], options: SanitizerOptions = {}) {
  const secretsOnly: Sanitizer = createValueRedactor(options.redact ?? createRedactor().text)
  const isAsked = output.sanitize_transcripts || output.sanitize_logs
  const all = isAsked ? createSanitizer(output, options) : secretsOnly
  return {
    /** For transcripts, tool inputs, captures and everything that quotes them. */
    transcripts: output.sanitize_transcripts ? all : secretsOnly,
    /** For progress and logs. */
    logs: output.sanitize_logs ? all : secretsOnly,
  }
}

/**
 * Hides secrets first, then the built-in patterns, then the user's patterns in order. Time is linear in the length of a text,
 * and a text beyond the limit is replaced completely. Throws GantryError USAGE for an unsafe pattern.
 */
export function createSanitizer(
  { sanitization }: Pick<PluginConfig['output'], 'sanitization'>,
  { redact = createRedactor().text }: SanitizerOptions = {},
): Sanitizer {
  const builtIn = sanitization.enabled ? personalPatterns : []
  const custom = customPatterns(sanitization)
  const walk = createValueRedactor((text) => {
    if (text.length > sanitization.max_input_length) return oversized
    const hidden = builtIn.reduce(hide, redact(text))
    return custom.reduce(replaceBy, hidden)
  })
  return sanitization.enabled ? (value) => withoutCardValues(walk(value)) : walk
}

function customPatterns(sanitization: Sanitization) {
  const [problem] = checkCustomPatterns(sanitization)
  if (problem !== undefined)
    throw new GantryError('USAGE', `output.sanitization.custom_patterns[${problem.index}]: ${problem.text}`)
  return sanitization.custom_patterns.flatMap(({ pattern, replacement }) => {
    const compiled = compilePattern(pattern)
    return compiled.kind === 'ok' ? [{ pattern: compiled.pattern, replacement }] : []
  })
}

function hide(text: string, { find, placeholder }: PersonalPattern): string {
  const spans: Replacement[] = []
  find(text, (start, end) => spans.push({ start, end, by: placeholder }))
  return replaceAt(text, spans)
}

function replaceBy(
  text: string,
  { pattern, replacement }: ReturnType<typeof customPatterns>[number],
): string {
  const found = pattern.matchAll(text).filter((match) => match.text !== '')
  const spans = found.map((match) => ({
    start: match.index,
    end: match.index + match.text.length,
    by: expanded(replacement, match),
  }))
  return replaceAt(text, spans)
}

interface Replacement {
  readonly start: number
  readonly end: number
  readonly by: string
}

/** In the order of the text. Of two overlapping matches the first wins. */
function replaceAt(text: string, replacements: readonly Replacement[]): string {
  let result = ''
  let done = 0
  for (const { start, end, by } of replacements) {
    if (start < done) continue
    result += text.slice(done, start) + by
    done = end
  }
  return result + text.slice(done)
}

/** `$1` to `$9`, `$<name>`, `$&` and `$$`, as in JavaScript; a missing group stays unchanged. */
function expanded(replacement: string, match: ReturnType<Pattern['matchAll']>[number]): string {
  return replacement.replaceAll(
    /\$(?:(\d)|<(\w+)>|([&$]))/g,
    (written: string, index?: string, name?: string, sign?: string) => {
      if (sign !== undefined) return sign === '$' ? '$' : match.text
      if (index !== undefined)
        return Number(index) >= 1 && Number(index) <= match.groups.length
          ? (match.groups[Number(index) - 1] ?? '')
          : written
      return name !== undefined && Object.hasOwn(match.named, name) ? (match.named[name] ?? '') : written
    },
  )
}

const smallestCard = 10 ** 12

/** A card number may also be a JSON number. */
function withoutCardValues<T>(value: T): T
function withoutCardValues(value: unknown): unknown {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= smallestCard && isCard(String(value))
      ? '[REDACTED_CARD]'
      : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(withoutCardValues)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const entries = Object.entries(value).map(([key, item]) => [key, withoutCardValues(item)] as const)
  const isSame = entries.every(([key, item]) => Object.is(item, Reflect.get(value, key)))
  return isSame ? value : Object.fromEntries(entries)
}

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

function isCard(text: string): boolean {
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
interface PersonalPattern {
  readonly name: string
  readonly placeholder: string
  readonly find: Finder
}

/** The most specific first: later patterns do not see replaced text. */
const personalPatterns: readonly PersonalPattern[] = [
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
