import { unknownPart } from './unknown-part.ts'

/** A character of a word; a quoted one means itself. */
export interface Char {
  readonly char: string
  readonly quoted: boolean
}

export function charsOf(text: string, quoted: boolean): Char[] {
  return [...text].map((char) => ({ char, quoted }))
}

export function plainText(chars: readonly Char[]): string {
  return chars.map(({ char }) => char).join('')
}

export function hasGlob(chars: readonly Char[]): boolean {
  return chars.some(
    ({ char, quoted }, index) =>
      !quoted &&
      (char === '*' ||
        char === '?' ||
        char === '[' ||
        (/[@!+]/.test(char) && chars[index + 1]?.char === '(' && chars[index + 1]?.quoted === false)),
  )
}

/** What a glob matches as a whole; `across` lets `*` match slashes, as in `${x%…}` and `case`. null when it is too involved. */
export function globRegExp(
  chars: readonly Char[],
  { across = false, ignoreCase = false } = {},
): RegExp | null {
  const source = globSource(chars, across)
  return source === null ? null : new RegExp(`^(?:${source})$`, ignoreCase ? 'isu' : 'su')
}

/** The same without anchors. */
export function globSource(chars: readonly Char[], across: boolean, depth = 0): string | null {
  // Many stars in one pattern can make matching extremely slow.
  if (depth > 4 || chars.length > 400 || chars.filter(isStar).length > maxStars) return null
  const any = across ? '.' : '[^/]'
  let source = ''
  for (let index = 0; index < chars.length; index += 1) {
    const { char, quoted } = chars[index] ?? { char: '', quoted: true }
    const next = chars[index + 1]
    if (char === unknownPart) source += `${any}*`
    else if (quoted) source += literally(char)
    else if (/[@!+?*]/.test(char) && next?.char === '(' && !next.quoted) {
      const group = extendedGroup(chars, index + 2)
      if (group === null) source += char === '*' ? `${any}*` : char === '?' ? any : literally(char)
      else {
        const inner = group.options.map((option) => globSource(option, across, depth + 1))
        if (inner.includes(null)) return null
        source += quantified(char, inner.join('|'), any)
        index = group.end
      }
    } else if (char === '*') source += `${any}*`
    else if (char === '?') source += any
    else if (char === '[') {
      const set = bracket(chars, index)
      source += set === null ? '\\[' : set.source
      index = set?.end ?? index
    } else source += literally(char)
  }
  return source
}

const maxStars = 8

function isStar({ char, quoted }: Char): boolean {
  return char === unknownPart || (!quoted && (char === '*' || char === '+'))
}

function quantified(operator: string, inner: string, any: string): string {
  if (operator === '!') return `(?!(?:${inner})$)${any}*`
  return `(?:${inner})${'?*+'.includes(operator) ? operator : ''}`
}

function extendedGroup(chars: readonly Char[], start: number) {
  const options: Char[][] = [[]]
  let depth = 0
  for (let index = start; index < chars.length; index += 1) {
    const each = chars[index]
    if (each === undefined) break
    if (!each.quoted && each.char === '(') depth += 1
    if (!each.quoted && each.char === ')') {
      if (depth === 0) return { options, end: index }
      depth -= 1
    }
    if (!each.quoted && each.char === '|' && depth === 0) options.push([])
    else options.at(-1)?.push(each)
  }
  return null
}

function bracket(chars: readonly Char[], start: number) {
  let index = start + 1
  const negated = /[!^]/.test(chars[index]?.char ?? '') && chars[index]?.quoted === false
  if (negated) index += 1
  let inner = ''
  for (let first = true; index < chars.length; index += 1, first = false) {
    const char = chars[index]?.char ?? ''
    const quoted = chars[index]?.quoted ?? true
    if (char === ']' && !quoted && !first) {
      if (inner === '') return null
      const source = `[${negated ? '^' : ''}${inner}]`
      return isRegExp(source) ? { source, end: index } : null
    }
    const named =
      char === '[' && !quoted ? /^\[:(\w+):\]/.exec(plainText(chars.slice(index, index + 12))) : null
    if (named?.[1] !== undefined) {
      inner += classes[named[1]] ?? ''
      index += named[0].length - 1
    } else inner += char === '-' && !quoted ? '-' : literally(char)
  }
  return null
}

const classes: Readonly<Record<string, string>> = {
  alpha: '\\p{L}',
  alnum: '\\p{L}\\p{N}',
  digit: '0-9',
  lower: '\\p{Ll}',
  upper: '\\p{Lu}',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\s',
  print: '\\x20-\\x7e',
  graph: '!-~',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
}

function isRegExp(source: string): boolean {
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}

function literally(char: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(char) ? `\\${char === '-' ? 'x2d' : char}` : char
}
