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

export function canBeEmpty(node: PatternNode): boolean {
  if (node.kind === 'empty') return true
  if (node.repeat.min === 0) return true
  return node.kind === 'group' && node.alternatives.some((sequence) => sequence.every(canBeEmpty))
}

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
  // An anchor, a boundary, flags.
  if (take(cursor, /^(?:[$^]|\\[bBAz]|\(\?[a-zA-Z-]*\))/) !== null) return { kind: 'empty' }
  if (take(cursor, /^\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:))?/) !== null) {
    const alternatives = readAlternatives(cursor)
    cursor.at += 1
    return { kind: 'group', alternatives, repeat: readRepeat(cursor) }
  }
  const first = take(cursor, /^\[/) === null ? readCharacter(cursor) : readClass(cursor)
  return { kind: 'character', first: folded(first, cursor.foldsCase), repeat: readRepeat(cursor) }
}

function readRepeat(cursor: Cursor): Repeat {
  const found = take(cursor, /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})[?+]?/)
  if (found === null) return once
  const [, sign, least, comma, most] = found
  if (sign === '*') return { min: 0, max: Infinity }
  if (sign === '+') return { min: 1, max: Infinity }
  if (sign === '?') return { min: 0, max: 1 }
  const min = Number(least)
  return { min, max: comma === undefined ? min : most === '' ? Infinity : Number(most) }
}

/** In a class a dot is literal. */
function readCharacter(cursor: Cursor, isInClass = false): CharacterSet {
  const escaped = take(cursor, /^\\(?:p\{[^}]*\}|P\{[^}]*\}|[pP].|x\{[^}]*\}|x..|u\{[^}]*\}|u....|.)/su)
  if (escaped !== null) return charactersOf(escaped[0])
  const [char = ''] = take(cursor, /^./su) ?? []
  return char === '.' && !isInClass ? new Set(codes) : new Set([Math.min(char.codePointAt(0) ?? 0, 128)])
}

function charactersOf(escaped: string): CharacterSet {
  const known = classes[escaped]
  if (known !== undefined) return known
  if (/^\\[pP]/.test(escaped)) return new Set(codes)
  const hex = /^\\[xu]\{?([0-9a-fA-F]+)/.exec(escaped)?.[1]
  const code =
    hex === undefined ? (controls[escaped] ?? escaped.codePointAt(1) ?? 92) : Number.parseInt(hex, 16)
  return new Set([Math.min(code, 128)])
}

/** After its opening bracket. */
function readClass(cursor: Cursor): CharacterSet {
  const isNegated = take(cursor, /^\^/) !== null
  const found = new Set<number>()
  for (let isFirst = true; cursor.at < cursor.source.length; isFirst = false) {
    if (cursor.source[cursor.at] === ']' && !isFirst) break
    for (const code of readClassPart(cursor)) found.add(code)
  }
  cursor.at += 1
  return isNegated ? new Set(codes.filter((code) => !found.has(code) || code === 128)) : found
}

function readClassPart(cursor: Cursor): CharacterSet {
  // An approximation is enough here.
  if (take(cursor, /^\[:\^?\w+:\]/) !== null) return new Set(codes)
  const from = readCharacter(cursor, true)
  if (from.size !== 1 || take(cursor, /^-(?=[^\]])/) === null) return from
  const [low = 0] = from
  const [high = 128] = readCharacter(cursor, true)
  return new Set(codes.filter((code) => code >= low && code <= high))
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

/** Moves behind what has this shape here; null when nothing has. */
function take(cursor: Cursor, shape: RegExp): RegExpExecArray | null {
  const found = shape.exec(cursor.source.slice(cursor.at))
  cursor.at += found?.[0].length ?? 0
  return found
}
