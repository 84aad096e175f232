export type Translated =
  | { readonly kind: 'translated'; readonly source: string }
  | { readonly kind: 'unsupported'; readonly what: string; readonly hint?: string }

/** What `.` does not match in JavaScript. */
const anyOfLine = '[^\\n\\r\\x{2028}\\x{2029}]'

/** Translates a JavaScript pattern to RE2 with the same meaning, or names the part that RE2 does not support. */
export function translateJsPattern(source: string, flags: string): Translated {
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

/** Mean the same in both. */
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
  if (/^\\(?:\d|k<)/.test(rest))
    return { kind: 'unsupported', what: `a reference back (${rest.slice(0, 2)})` }
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
      return { kind: 'unsupported', what: `half of a character (${whole})` }
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

/** A backslash before anything else means the thing itself. RE2 wants none before letters. */
function plain(letter: string): string {
  return /^[!-/:-@[-`{-~]$/.test(letter) ? `\\${letter}` : letter
}
