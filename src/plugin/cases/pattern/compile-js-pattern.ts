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
  try {
    new RegExp(source, flags)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    return {
      kind: 'bad',
      message: cause.message.replace(/^Invalid regular expression: /, 'invalid JavaScript pattern: '),
    }
  }
  const translated: Translated = translateJsPattern(source, flags)
  if (translated.kind === 'unsupported')
    return {
      kind: 'bad',
      message: `${translated.what} cannot be used in patterns here`,
      hint: translated.hint ?? hint,
    }
  const compiled = compilePattern(translated.source)
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

/** Whether the input contains every value at its path. */
function holds(input: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return input === wanted
  if (typeof input !== 'object' || input === null) return false
  return Object.entries(wanted).every(([key, value]) => holds((input as Record<string, unknown>)[key], value))
}

type Translated =
  | { readonly kind: 'translated'; readonly source: string }
  | { readonly kind: 'unsupported'; readonly what: string; readonly hint?: string }

/** What `.` does not match in JavaScript. */
const anyOfLine = '[^\\n\\r\\x{2028}\\x{2029}]'

/** Translates a JavaScript pattern to RE2 with the same meaning, or names the part that RE2 does not support. */
function translateJsPattern(source: string, flags: string): Translated {
  let result = `${flags.includes('i') ? '(?i)' : ''}${flags.includes('m') ? '(?m)' : ''}`
  const isUnicode = /[uv]/.test(flags)
  let inClass = false
  let at = 0
  while (at < source.length) {
    const rest = source.slice(at)
    if (rest.startsWith('\\')) {
      const escaped = translateEscape(rest, { inClass, isUnicode })
      if (escaped.kind === 'unsupported') return escaped
      result += escaped.source
      at += escaped.length
      continue
    }
    const piece: Piece = inClass ? classPiece(rest, flags) : plainPiece(rest, flags)
    if (piece.kind === 'unsupported') return piece
    inClass = piece.inClass
    result += piece.source
    at += piece.length
  }
  return { kind: 'translated', source: result }
}

type Piece =
  | { readonly kind: 'piece'; readonly source: string; readonly length: number; readonly inClass: boolean }
  | Extract<Translated, { kind: 'unsupported' }>

function plainPiece(rest: string, flags: string): Piece {
  const piece = (source: string, length: number, inClass = false): Piece => ({
    kind: 'piece',
    source,
    length,
    inClass,
  })
  if (rest.startsWith('(?')) return groupPiece(rest)
  if (rest.startsWith('[^]')) return piece('(?s:.)', 3)
  if (rest.startsWith('[]')) return piece('[^\\x00-\\x{10FFFF}]', 2)
  if (rest.startsWith('[^')) return piece('[^', 2, true)
  if (rest.startsWith('[')) return piece('[', 1, true)
  if (rest.startsWith('.')) return piece(flags.includes('s') ? '(?s:.)' : anyOfLine, 1)
  return literal(rest, false)
}

function groupPiece(rest: string): Piece {
  const opening = /^\(\?(?::|<(?![=!])[^>]*>)/.exec(rest)?.[0]
  if (opening !== undefined) return { kind: 'piece', source: opening, length: opening.length, inClass: false }
  const [look] = /^\(\?<?[=!]/.exec(rest) ?? []
  if (look !== undefined) return { kind: 'unsupported', what: `lookaround ${look}…)` }
  return {
    kind: 'unsupported',
    what: `a flag inside of the pattern ${rest.slice(0, 4)}…`,
    hint: 'Write it under flags.',
  }
}

function classPiece(rest: string, flags: string): Piece {
  if (rest.startsWith(']')) return { kind: 'piece', source: ']', length: 1, inClass: false }
  if (flags.includes('v') && /^(?:\[|&&|--)/.test(rest))
    return { kind: 'unsupported', what: 'a set within a set (flag v)' }
  // RE2 reads `[:alpha:]` inside of a set, JavaScript does not.
  if (rest.startsWith('[')) return { kind: 'piece', source: '\\[', length: 1, inClass: true }
  return literal(rest, true)
}

function literal(rest: string, inClass: boolean): Piece {
  const source = String.fromCodePoint(rest.codePointAt(0) ?? 0)
  return { kind: 'piece', source, length: source.length, inClass }
}

type TranslatedEscape =
  | { readonly kind: 'escape'; readonly source: string; readonly length: number }
  | { readonly kind: 'unsupported'; readonly what: string; readonly hint?: string }

/** White space of JavaScript, which is more than RE2's. */
const space =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'

/** Same meaning in both engines. */
const shared = /^\\[dDwWnrtvf]/

/** The escape a text begins with. `inClass`: between square brackets. */
function translateEscape(
  rest: string,
  { inClass, isUnicode }: { readonly inClass: boolean; readonly isUnicode: boolean },
): TranslatedEscape {
  const as = (source: string, length: number): TranslatedEscape => ({ kind: 'escape', source, length })
  const [, letter = ''] = /^\\(.)/su.exec(rest) ?? []
  if (shared.test(rest)) return as(rest.slice(0, 2), 2)
  if (letter === 's') return as(inClass ? space : `[${space}]`, 2)
  if (letter === 'S') return as(inClass ? '\\S' : `[^${space}]`, 2)
  if (/^\\[bB]/.test(rest)) return as(inClass ? '\\x08' : rest.slice(0, 2), 2)
  if (/^\\0(?!\d)/.test(rest)) return as('\\x00', 2)
  if (/^\\(?:\d|k<)/.test(rest)) return { kind: 'unsupported', what: `a backreference (${rest.slice(0, 2)})` }
  return codePoint(rest, isUnicode) ?? property(rest, isUnicode) ?? as(plain(letter), 1 + letter.length)
}

/** `\x41`, `\u0041`, `\u{41}`, `\cA`; null for anything else. */
function codePoint(rest: string, isUnicode: boolean): TranslatedEscape | null {
  const [pair, high = '', low = ''] =
    /^\\u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})/.exec(rest) ?? []
  if (pair !== undefined) {
    const code = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0) ?? 0
    return hex(code.toString(16), pair.length)
  }
  const [whole, two, four, braced] =
    /^\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]+)\})/.exec(rest) ?? []
  if (braced !== undefined && !isUnicode)
    return { kind: 'unsupported', what: '\\u{…} without the flag u', hint: 'Add u under flags.' }
  const digits = two ?? four ?? braced
  if (whole !== undefined && digits !== undefined) {
    if (/^d[89a-f]/i.test(digits) && digits.length === 4)
      return { kind: 'unsupported', what: `half of a surrogate pair (${whole})` }
    return hex(digits, whole.length)
  }
  const [control, letter = ''] = /^\\c([A-Za-z])/.exec(rest) ?? []
  return control === undefined ? null : hex((letter.charCodeAt(0) % 32).toString(16), control.length)
}

function hex(digits: string, length: number): TranslatedEscape {
  return { kind: 'escape', source: `\\x{${digits}}`, length }
}

/** `\p{L}`, which is a class only with the flag u. */
function property(rest: string, isUnicode: boolean): TranslatedEscape | null {
  const [whole, letter, name = ''] =
    /^\\([pP])\{(?:(?:Script|sc|General_Category|gc)=)?(\w+)\}/.exec(rest) ?? []
  if (whole === undefined) return null
  return isUnicode
    ? { kind: 'escape', source: `\\${letter}{${name}}`, length: whole.length }
    : { kind: 'unsupported', what: `${whole} without the flag u`, hint: 'Add u under flags.' }
}

/** A backslash before anything else is ignored. RE2 rejects one before a letter. */
function plain(letter: string): string {
  return /^[!-/:-@[-`{-~]$/.test(letter) ? `\\${letter}` : letter
}
