import { translateEscape } from './translate-escape.ts'

export type Translated =
  | { readonly kind: 'translated'; readonly source: string }
  | { readonly kind: 'unsupported'; readonly what: string; readonly hint?: string }

/** What `.` does not match in JavaScript. */
const anyOfLine = '[^\\n\\r\\x{2028}\\x{2029}]'

/** A pattern that JavaScript takes, in RE2's words and with the same meaning; or what of it RE2 has no words for. */
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
