/** The repetitions and choices of a pattern: enough to predict how a backtracking engine would behave. */
export type PatternNode =
  | { readonly kind: 'character'; readonly first: CharacterSet; readonly repeat: Repeat }
  /** Consumes no text: an anchor, a boundary, flags. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'group'; readonly alternatives: readonly Sequence[]; readonly repeat: Repeat }

export type Sequence = readonly PatternNode[]

export interface Repeat {
  readonly min: number
  readonly max: number
}

/** Which characters: codes 0 to 127, and 128 for all others. */
export type CharacterSet = ReadonlySet<number>

const once: Repeat = { min: 1, max: 1 }
const codes = Array.from({ length: 129 }, (_, code) => code)

/** The shape of a pattern that compiles. Terminates for any input. */
export function patternShape(source: string): readonly Sequence[] {
  return readAlternatives({ source, at: 0, foldsCase: /\(\?[a-zA-Z]*i/.test(source) })
}

/** Whether it can match the empty text. */
export function canBeEmpty(node: PatternNode): boolean {
  if (node.kind === 'empty') return true
  if (node.repeat.min === 0) return true
  return node.kind === 'group' && node.alternatives.some((sequence) => sequence.every(canBeEmpty))
}

/** The characters that a match can begin with. */
export function firstOf(sequence: Sequence): CharacterSet {
  const found = new Set<number>()
  for (const node of sequence) {
    if (node.kind === 'character') for (const code of node.first) found.add(code)
    if (node.kind === 'group')
      for (const code of node.alternatives.flatMap((inner) => [...firstOf(inner)])) found.add(code)
    if (!canBeEmpty(node)) break
  }
  return found
}

interface Cursor {
  readonly source: string
  readonly foldsCase: boolean
  at: number
}

function readAlternatives(cursor: Cursor): readonly Sequence[] {
  const alternatives: PatternNode[][] = [[]]
  while (cursor.at < cursor.source.length && cursor.source[cursor.at] !== ')') {
    if (cursor.source[cursor.at] === '|') {
      cursor.at += 1
      alternatives.push([])
    } else alternatives.at(-1)?.push(readNode(cursor))
  }
  return alternatives
}

function readNode(cursor: Cursor): PatternNode {
  const char = cursor.source[cursor.at] ?? ''
  if (char === '(') return readGroup(cursor)
  if (char === '^' || char === '$') return skip(cursor, 1)
  if (char === '\\' && /^\\[bBAz]/.test(rest(cursor))) return skip(cursor, 2)
  const first = char === '[' ? readClass(cursor) : char === '\\' ? readEscape(cursor) : readCharacter(cursor)
  return { kind: 'character', first: folded(first, cursor.foldsCase), repeat: readRepeat(cursor) }
}

function readGroup(cursor: Cursor): PatternNode {
  const opening = /^\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:))?/.exec(rest(cursor))?.[0] ?? '('
  const flags = /^\(\?[a-zA-Z-]*\)/.exec(rest(cursor))?.[0]
  if (flags !== undefined) return skip(cursor, flags.length)
  cursor.at += opening.length
  const alternatives = readAlternatives(cursor)
  cursor.at += 1
  return { kind: 'group', alternatives, repeat: readRepeat(cursor) }
}

function readRepeat(cursor: Cursor): Repeat {
  const found = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})[?+]?/.exec(rest(cursor))
  if (found === null) return once
  const [whole, sign, least, comma, most] = found
  cursor.at += whole.length
  if (sign === '*') return { min: 0, max: Infinity }
  if (sign === '+') return { min: 1, max: Infinity }
  if (sign === '?') return { min: 0, max: 1 }
  const min = Number(least)
  return { min, max: comma === undefined ? min : most === '' ? Infinity : Number(most) }
}

function readCharacter(cursor: Cursor): CharacterSet {
  const code = cursor.source.codePointAt(cursor.at) ?? 0
  cursor.at += code > 0xffff ? 2 : 1
  return code === 46 ? new Set(codes) : new Set([Math.min(code, 128)])
}

function readEscape(cursor: Cursor): CharacterSet {
  const text = rest(cursor)
  const whole =
    /^\\(?:p\{[^}]*\}|P\{[^}]*\}|[pP].|x\{[^}]*\}|x..|u\{[^}]*\}|u....|.)/su.exec(text)?.[0] ?? '\\'
  cursor.at += whole.length
  const known = classes[whole]
  if (known !== undefined) return known
  if (/^\\[pP]/.test(whole)) return new Set(codes)
  const hex = /^\\[xu]\{?([0-9a-fA-F]+)/.exec(whole)?.[1]
  const code = hex === undefined ? (controls[whole] ?? whole.codePointAt(1) ?? 92) : Number.parseInt(hex, 16)
  return new Set([Math.min(code, 128)])
}

function readClass(cursor: Cursor): CharacterSet {
  cursor.at += 1
  const isNegated = cursor.source[cursor.at] === '^'
  if (isNegated) cursor.at += 1
  const found = new Set<number>()
  for (let isFirst = true; cursor.at < cursor.source.length; isFirst = false) {
    if (cursor.source[cursor.at] === ']' && !isFirst) break
    for (const code of readClassPart(cursor)) found.add(code)
  }
  cursor.at += 1
  return isNegated ? new Set(codes.filter((code) => !found.has(code) || code === 128)) : found
}

function readClassPart(cursor: Cursor): CharacterSet {
  const named = /^\[:\^?\w+:\]/.exec(rest(cursor))?.[0]
  if (named !== undefined) {
    cursor.at += named.length
    // An approximation is enough here.
    return new Set(codes)
  }
  const from = readMember(cursor)
  const isRange = /^-[^\]]/.test(rest(cursor)) && from.size === 1
  if (!isRange) return from
  cursor.at += 1
  const [low = 0] = from
  const [high = 128] = readMember(cursor)
  return new Set(codes.filter((code) => code >= low && code <= high))
}

/** In a class a dot is literal. */
function readMember(cursor: Cursor): CharacterSet {
  if (cursor.source[cursor.at] === '\\') return readEscape(cursor)
  if (cursor.source[cursor.at] !== '.') return readCharacter(cursor)
  cursor.at += 1
  return new Set([46])
}

function matching(pattern: RegExp, others: boolean): CharacterSet {
  return new Set(codes.filter((code) => (code === 128 ? others : pattern.test(String.fromCharCode(code)))))
}

const classes: Readonly<Record<string, CharacterSet>> = {
  '\\d': matching(/[0-9]/, false),
  '\\D': matching(/[^0-9]/, true),
  '\\w': matching(/\w/, false),
  '\\W': matching(/\W/, true),
  '\\s': matching(/[\t\n\f\r ]/, false),
  '\\S': matching(/[^\t\n\f\r ]/, true),
}

const controls: Readonly<Record<string, number>> = {
  '\\n': 10,
  '\\t': 9,
  '\\r': 13,
  '\\f': 12,
  '\\v': 11,
  '\\a': 7,
}

function folded(set: CharacterSet, foldsCase: boolean): CharacterSet {
  if (!foldsCase) return set
  const chars = [...set].filter((code) => code < 128).map((code) => String.fromCharCode(code))
  const both = chars.flatMap((char) => [char.toLowerCase(), char.toUpperCase()])
  return new Set([...set, ...both.map((char) => char.charCodeAt(0))])
}

function skip(cursor: Cursor, length: number): PatternNode {
  cursor.at += length
  return { kind: 'empty' }
}

function rest({ source, at }: Cursor): string {
  return source.slice(at)
}
