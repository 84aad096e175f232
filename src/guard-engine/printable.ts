import { firstChars } from '../core/shorten.ts'
/**
 * Foreign text as one line: control characters, line breaks, invisible characters and characters that change the reading direction are
 * escaped, and text longer than `max` is cut.
 */
export function printable(text: string, max: number): string {
  // Most texts are ASCII and need no Unicode pattern.
  if (text.length <= max && /^[\x20-\x7e]*$/.test(text)) return text
  // Never escape a long text as a whole: more than `max` characters are not needed.
  const escaped = text.slice(0, max + 1).replaceAll(unseen(), escapeOf)
  if (escaped.length <= max && text.length <= max) return escaped
  return `${firstChars(escaped, max - 1)}…`
}

/** Compiled on demand: V8 loads Unicode tables for it, which takes a hook half a millisecond. */
function unseen(): RegExp {
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu
}

function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0
  if (char === '\n') return '\\n'
  if (char === '\t') return '\\t'
  if (char === '\r') return '\\r'
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}
