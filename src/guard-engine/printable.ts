import { firstChars } from '../core/shorten.ts'
/**
 * Text of somebody else as one line that shows what it is: control characters, line ends, and characters that are invisible or
 * turn the reading direction are written as escapes, and what is longer than `max` is cut.
 */
export function printable(text: string, max: number): string {
  // Most texts end here: a hook compiles the pattern for all of Unicode only when it meets more than ASCII.
  if (text.length <= max && /^[\x20-\x7e]*$/.test(text)) return text
  // More than `max` characters are never needed, and a long text must not be escaped as a whole.
  const escaped = text.slice(0, max + 1).replaceAll(unseen(), escapeOf)
  if (escaped.length <= max && text.length <= max) return escaped
  return `${firstChars(escaped, max - 1)}…`
}

/** Made when it is needed: V8 reads the tables of Unicode for it, which takes a hook half a millisecond. */
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
