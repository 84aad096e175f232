import { compilePattern } from '../../../core/pattern.ts'
import type { ToolPattern } from '../../generate/contract.ts'

/** A pattern of a grader: written for JavaScript, run in linear time. */
export interface JsPattern {
  test(text: string): boolean
  /** The number of matches that do not overlap. */
  count(text: string): number
}

export type CompiledJsPattern =
  | { readonly kind: 'ok'; readonly pattern: JsPattern }
  | { readonly kind: 'bad'; readonly message: string; readonly hint?: string }

const hint =
  'Patterns run in linear time here, which excludes this feature. Write the pattern without it, or use two graders.'

/** `bad` for patterns that JavaScript rejects, and for features that a linear engine does not have. No part is ignored silently. */
export function compileJsPattern(source: string, flags = ''): CompiledJsPattern {
  let translated: string
  try {
    new RegExp(source, flags)
    translated = translateJsPattern(source, flags)
  } catch (cause) {
    if (cause instanceof Unsupported) return { kind: 'bad', message: cause.message, hint: cause.hint }
    if (!(cause instanceof SyntaxError)) throw cause
    const message = cause.message.replace(/^Invalid regular expression: /, 'invalid JavaScript pattern: ')
    return { kind: 'bad', message }
  }
  const compiled = compilePattern(translated)
  if (compiled.kind === 'bad')
    return { kind: 'bad', message: `the pattern cannot be used here: ${compiled.message}`, hint }
  const { pattern } = compiled
  const isSticky = flags.includes('y')
  // RE2 knows one line terminator, JavaScript four.
  const seen = (text: string): string =>
    flags.includes('m') ? text.replaceAll(/\r\n|[\r\u2028\u2029]/g, '\n') : text
  return {
    kind: 'ok',
    pattern: {
      test: (text) => (isSticky ? pattern.exec(seen(text))?.index === 0 : pattern.test(seen(text))),
      count: (text) => {
        const matches = pattern.matchAll(seen(text))
        return isSticky ? abutting(matches) : matches.length
      },
    },
  }
}

/** With the flag y the first match is at the start of the text, and each next one where the last one ended. */
function abutting(matches: readonly { readonly index: number; readonly text: string }[]): number {
  let end = 0
  const gap = matches.findIndex(({ index, text }) => {
    const isApart = index !== end
    end = index + text.length
    return isApart
  })
  return gap === -1 ? matches.length : gap
}

export type InputMatch =
  | { readonly kind: 'ok'; fits(input: unknown): boolean }
  | { readonly kind: 'bad'; readonly message: string }

/** `input_match` of a grader: a pattern over the JSON of the input, or values it must contain. */
export function inputMatch(match: ToolPattern['input_match']): InputMatch {
  if (match === undefined) return { kind: 'ok', fits: () => true }
  if (typeof match !== 'string') return { kind: 'ok', fits: (input) => holds(input, match) }
  const compiled = compileJsPattern(match)
  if (compiled.kind === 'bad') return compiled
  return { kind: 'ok', fits: (input) => compiled.pattern.test(JSON.stringify(input) ?? '') }
}

function holds(input: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return input === wanted
  if (typeof input !== 'object' || input === null) return false
  return Object.entries(wanted).every(([key, value]) => holds((input as Record<string, unknown>)[key], value))
}

/** A feature that a linear engine does not have. */
class Unsupported extends Error {
  readonly hint: string

  constructor(what: string, ownHint = hint) {
    super(`${what} cannot be used in patterns here`)
    this.hint = ownHint
  }
}

/** What `.` does not match in JavaScript. */
const anyOfLine = '[^\\n\\r\\x{2028}\\x{2029}]'

/** White space of JavaScript, which is more than RE2's. */
const space =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'

const hex = '[\\da-fA-F]'
const surrogates = `u[dD][89abAB]${hex}{2}\\\\u[dD][c-fC-F]${hex}{2}`
const property = '[pP]\\{(?:(?:Script|sc|General_Category|gc)=)?\\w+\\}'
const escaping = `\\\\(?:${surrogates}|u\\{${hex}+\\}|u${hex}{4}|x${hex}{2}|c[A-Za-z]|${property}|\\d+|k<|.)`
const plainToken = new RegExp(`${escaping}|\\(\\?(?:<?[=!]|[a-z-]*:|<[^>]*>)|\\[\\^?\\]?|.`, 'suy')
const classToken = new RegExp(`${escaping}|&&|--|.`, 'suy')

/** Translates a JavaScript pattern to RE2 with the same meaning. Throws Unsupported for what RE2 does not have. */
function translateJsPattern(source: string, flags: string): string {
  let result = `${flags.includes('i') ? '(?i)' : ''}${flags.includes('m') ? '(?m)' : ''}`
  let inClass = false
  for (let at = 0; at < source.length; ) {
    const token: RegExp = inClass ? classToken : plainToken
    token.lastIndex = at
    const piece: string = token.exec(source)?.[0] ?? source.charAt(at)
    at += piece.length
    if (piece.startsWith('\\')) result += translateEscape(piece, inClass, /[uv]/.test(flags))
    else result += inClass ? translateInClass(piece, flags) : translatePlain(piece, flags)
    inClass = inClass ? piece !== ']' : piece === '[' || piece === '[^'
  }
  return result
}

function translatePlain(piece: string, flags: string): string {
  if (/^\(\?<?[=!]$/.test(piece)) throw new Unsupported(`lookaround ${piece}…)`)
  if (/^\(\?[a-z-]+:$/.test(piece))
    throw new Unsupported(`a flag inside of the pattern ${piece.slice(0, 4)}…`, 'Write it under flags.')
  if (piece === '[^]') return '(?s:.)'
  if (piece === '[]') return '[^\\x00-\\x{10FFFF}]'
  if (piece === '.') return flags.includes('s') ? '(?s:.)' : anyOfLine
  return piece
}

function translateInClass(piece: string, flags: string): string {
  if (flags.includes('v') && /^(?:\[|&&|--)$/.test(piece))
    throw new Unsupported('a set within a set (flag v)')
  // RE2 reads `[:alpha:]` inside of a set, JavaScript does not.
  return piece === '[' ? '\\[' : piece
}

function translateEscape(whole: string, inClass: boolean, isUnicode: boolean): string {
  const escaped = whole.slice(1)
  if (/^[dDwWnrtvf]$/.test(escaped)) return whole
  if (escaped === 's') return inClass ? space : `[${space}]`
  if (escaped === 'S') return inClass ? '\\S' : `[^${space}]`
  if (escaped === 'b' || escaped === 'B') return inClass ? '\\x08' : whole
  if (escaped === '0') return '\\x00'
  if (/^(?:\d|k<)/.test(escaped)) throw new Unsupported(`a backreference (${whole.slice(0, 2)})`)
  const [, name] = /^[pP]\{(?:\w+=)?(\w+)\}$/.exec(escaped) ?? []
  if (!isUnicode && (name !== undefined || escaped.startsWith('u{')))
    throw new Unsupported(`${name === undefined ? '\\u{…}' : whole} without the flag u`, 'Add u under flags.')
  if (name !== undefined) return `\\${escaped.charAt(0)}{${name}}`
  const digits = hexDigits(escaped)
  if (digits !== null) return `\\x{${digits}}`
  // A backslash before anything else is ignored. RE2 rejects one before a letter.
  return /^[!-/:-@[-`{-~]$/.test(escaped) ? whole : escaped
}

/** Of the character that `\x41`, `\u0041`, `\u{41}`, `\cA` or a surrogate pair stands for; null for anything else. */
function hexDigits(escaped: string): string | null {
  const [, high, low] = /^u(.{4})\\u(.{4})$/.exec(escaped) ?? []
  if (high !== undefined && low !== undefined) {
    const units = [high, low].map((digits) => Number.parseInt(digits, 16))
    return (String.fromCharCode(...units).codePointAt(0) ?? 0).toString(16)
  }
  if (/^ud[89a-f]..$/i.test(escaped)) throw new Unsupported(`half of a surrogate pair (\\${escaped})`)
  if (/^c[A-Za-z]$/.test(escaped)) return (escaped.charCodeAt(1) % 32).toString(16)
  return /^(?:x|u\{?)([\da-fA-F]+)\}?$/.exec(escaped)?.[1] ?? null
}
