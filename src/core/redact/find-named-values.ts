import type { Finder } from './replace-spans.ts'

const word =
  '(?:api[ _-]?key|token|passw(?:or)?d|passphrase|secret|(?:secret|private|access)[_-]?(?:access[_-]?)?key(?:[_-]?id)?|credentials?)'
const named = new RegExp(`${word}(\\\\{0,8}["'\`]?[ \\t]{0,32}[:=]{1,3}>?[ \\t]{0,32}|[ \\t]{1,32})`, 'gi')
const endsWithWord = new RegExp(`${word}$`, 'i')
// Parts of the words that begin with a rare letter, because a text search looks for the first letter.
const hints = ['key', 'ken', 'passw', 'phrase', 'cret', 'credential']
const unquotedEnd = /[\s"'`,;&)}\]<>]|\\[nrt"']/g
const noSecret = /^(?:true|false|null|undefined|none)$/i
/** What a program says about a file with such a name. */
const complaint =
  /(?:No such file|Permission denied|Is a directory|Not a directory|(?:command )?not found)\b/y

/** Whether a key names a secret: `password`, `githubToken`, `OPENAI_API_KEY`, `Authorization`. */
export function namesSecret(key: string): boolean {
  return (
    key.length <= 200 && ((mayName(key) && endsWithWord.test(key)) || secretHeaders.has(key.toLowerCase()))
  )
}

// Not a pattern that ignores case, which takes a hook a millisecond to compile.
const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie'])

/** Whether the next argument of a command is a secret: `--password`, `-Token`. */
export function flagNamesSecret(argument: string): boolean {
  return /^--?[A-Za-z]/.test(argument) && namesSecret(argument)
}

/**
 * Values with a secret's name: `password: x`, `API_KEY=x`, `"token": "x"` also inside escaped JSON, and `--token x`. The name stays.
 * A value ends with its quotes, with the line, or where a bare word ends.
 */
export const findNamedValues: Finder = (text, found) => {
  if (!mayName(text)) return
  let covered = 0
  for (const match of text.matchAll(named)) {
    const [whole, separator = ''] = match
    const start = match.index + whole.length
    // Skip names inside a hidden value. Otherwise `token=token=…` is quadratic.
    if (start < covered) continue
    if (/^[ \t]+$/.test(separator) && !isFlag(text, match.index)) continue
    for (const value of valuesAt(text, start)) {
      found(value.start, value.end)
      covered = value.end
    }
  }
}

/** One value, or every text of a list: `"token": ["x", "y"]`. The names inside an object decide for themselves. */
function* valuesAt(text: string, at: number): Iterable<{ readonly start: number; readonly end: number }> {
  listStart.lastIndex = at
  const opening = listStart.exec(text)
  if (opening === null) {
    const value = text[at] === '{' ? null : valueAt(text, at)
    if (value !== null) yield value
    return
  }
  for (let next: number | null = at + opening[0].length; next !== null; ) {
    const value = valueAt(text, next)
    if (value === null) return
    yield value
    listNext.lastIndex = value.end
    const comma = listNext.exec(text)
    next = comma === null ? null : value.end + comma[0].length
  }
}

const listStart = /\[\s{0,32}(?=\\{0,8}["'`])/y
const listNext = /\\{0,8}["'`]\s{0,32},\s{0,32}(?=\\{0,8}["'`])/y

/** Much faster than a pattern that ignores case, and most texts end here. */
function mayName(text: string): boolean {
  const lowered = text.toLowerCase()
  return hints.some((hint) => lowered.includes(hint))
}

/** `--token x` and `-Password x`, but not `the token x`. */
function isFlag(text: string, wordStart: number): boolean {
  const before = text.slice(Math.max(0, wordStart - 40), wordStart)
  return /(?:^|[\s"'`])--?[A-Za-z0-9_-]*$/.test(before)
}

function valueAt(text: string, at: number): { start: number; end: number } | null {
  let start = at
  while (text[start] === '\\') start += 1
  const quote = text[start]
  const escapes = start - at
  const quoted = quote === '"' || quote === "'" || quote === '`'
  if (quoted) start += 1
  else start = at
  complaint.lastIndex = start
  if (!quoted && complaint.test(text)) return null
  const end = quoted ? quotedEnd(text, start, quote, escapes) : bareEnd(text, start)
  return end === start || noSecret.test(text.slice(start, Math.min(end, start + 12))) ? null : { start, end }
}

/** The closing quote carries as many backslashes as the opening one; a quote with more is part of the value. */
function quotedEnd(text: string, start: number, quote: string, escapes: number): number {
  let backslashes = 0
  for (let at = start; at < text.length; at += 1) {
    const char = text[at]
    if (char === '\n' || char === '\r') return at
    if (char === quote && (escapes === 0 ? backslashes % 2 === 0 : backslashes <= escapes))
      return at - Math.min(backslashes, escapes)
    backslashes = char === '\\' ? backslashes + 1 : 0
  }
  return text.length
}

function bareEnd(text: string, start: number): number {
  unquotedEnd.lastIndex = start
  return unquotedEnd.exec(text)?.index ?? text.length
}
