import { GantryError } from '../../core/error.ts'
import { compilePattern, type Pattern } from '../../core/pattern.ts'
import { createValueRedactor } from '../../core/redact/value-redactor.ts'
import { createRedactor } from '../../core/redactor.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { checkCustomPatterns, type Sanitization } from './check-custom-patterns.ts'
import { isCard, type PersonalPattern, personalPatterns } from './personal-patterns.ts'

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
