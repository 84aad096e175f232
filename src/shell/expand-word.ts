import type { Word, WordPart } from 'unbash'
import { expandGlob } from './expand-glob.ts'
import { arithmetic, expandParameter } from './expand-parameter.ts'
import { type Char, charsOf } from './glob-reg-exp.ts'
import type { Arg, Cursor, Shell } from './shell-state.ts'
import { variable } from './state.ts'
import { unknownPart } from './unknown-part.ts'

/** The words a shell would make of one: braces, tilde, variables, substitutions, splitting, globs. */
export function expandWord(word: Word, at: Cursor, shell: Shell): readonly Arg[] {
  if (word.parts === undefined) return [{ value: simple(word, at, shell), text: word.text }]
  const braces = expandBraces(word)
  if (braces !== null) return expandEach(braces, at, shell)
  const separators = variable(at.state, 'IFS', shell.world)
  const fields = fieldsOf(word, at, shell, typeof separators === 'string' ? separators : ' \t\n')
  const values = fields.flatMap((field) =>
    mayBeGlob(field) ? expandGlob(fieldChars(field), at.state, shell) : [fieldText(field)],
  )
  const [only, ...more] = values
  return only !== undefined && more.length === 0
    ? [{ value: only, text: word.text }]
    : values.map((value) => ({ value, text: value.includes(unknownPart) ? word.text : value }))
}

function expandEach(texts: readonly string[], at: Cursor, shell: Shell): readonly Arg[] {
  const found: Arg[] = []
  for (const text of texts) {
    const word = shell.word(text)
    for (const arg of word === undefined ? [{ value: unknownPart, text }] : shell.expand(word, at))
      found.push(arg)
    if (found.length > maxWords) return [...found, { value: unknownPart, text }]
  }
  return found
}

const maxWords = 256

/** As in an assignment or a here-document: one text, nothing split. */
export function expandWhole(word: Word, at: Cursor, shell: Shell): string {
  if (word.parts === undefined) return simple(word, at, shell)
  return fieldsOf(word, at, shell, null).map(fieldText).join(' ')
}

/** As a pattern: quoted characters keep their own meaning. */
export function expandPattern(word: Word, at: Cursor, shell: Shell): readonly Char[] {
  if (word.parts === undefined) return charsOf(word.value, word.text !== word.value)
  return fieldsOf(word, at, shell, null).flatMap(fieldChars)
}

/** Of a here-document's body. */
export function expandParts(parts: readonly WordPart[], at: Cursor, shell: Shell): string {
  const fields = collectFields(null)
  for (const part of parts) addPart(part, fields, true, at, shell)
  return fields.finish().map(fieldText).join(' ')
}

function simple(word: Word, at: Cursor, shell: Shell): string {
  return tilde(word.text, at, shell) ?? word.value
}

function fieldsOf(word: Word, at: Cursor, shell: Shell, separators: string | null): readonly Field[] {
  const fields = collectFields(separators)
  const parts = word.parts ?? []
  const [first] = parts
  const home = first?.type === 'Literal' ? tilde(first.text, at, shell) : null
  if (home !== null) fields.add(home, true)
  for (const part of home === null ? parts : parts.slice(1)) addPart(part, fields, false, at, shell)
  return fields.finish()
}

function addPart(part: WordPart, fields: Fields, quoted: boolean, at: Cursor, shell: Shell): void {
  switch (part.type) {
    case 'Literal':
      if (quoted) fields.add(part.value, true)
      else addLiteral(part.text, fields)
      return
    case 'Glob':
      addLiteral(part.text, fields)
      return
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      fields.add(part.value, true)
      return
    case 'DoubleQuoted':
    case 'LocaleString':
      fields.add('', true)
      for (const child of part.parts) addPart(child, fields, true, at, shell)
      return
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      fields.addAll(expandParameter(part, at, shell), quoted)
      return
    case 'CommandExpansion':
      fields.addAll([shell.substitute(part.script, at.state)], quoted)
      return
    case 'ArithmeticExpansion':
      shell.visit(part, at.state)
      fields.add(calculated(part.text, at, shell), true)
      return
    case 'ProcessSubstitution':
      fields.add(shell.substituteProcess(part, at), true)
      return
    case 'ExtendedGlob':
      fields.add(part.text, false)
      return
    case 'BraceExpansion':
      fields.add(part.text, true)
  }
}

function calculated(text: string, at: Cursor, shell: Shell): string {
  const inner = /^\$(?:\(\(([\s\S]*)\)\)|\[([\s\S]*)\])$/.exec(text)
  const value = arithmetic(inner?.[1] ?? inner?.[2] ?? '', at, shell)
  return value === null ? unknownPart : String(value)
}

/** A backslash quotes the next character, and a line end after it vanishes. */
function addLiteral(text: string, fields: Fields): void {
  for (const [piece] of text.matchAll(/\\[\s\S]?|[^\\]+/g))
    if (!piece.startsWith('\\')) fields.add(piece, false)
    else if (piece !== '\\\n') fields.add(piece.slice(1), true)
}

/** `~`, `~/x`, `~+`; of another person it is not known. null when the text does not begin so. */
function tilde(text: string, { state }: Cursor, shell: Shell): string | null {
  if (!text.startsWith('~')) return null
  const [, who = '', rest = ''] = /^~([^/]*)(.*)$/s.exec(text) ?? []
  if (/["'\\$`]/.test(who)) return null
  const plain = rest.replaceAll(/\\(.)/gs, '$1')
  const home = variable(state, 'HOME', shell.world)
  if (who === '') return `${typeof home === 'string' ? home : shell.world.home}${plain}`
  return `${who === '+' ? (state.cwd ?? unknownPart) : unknownPart}${plain}`
}

/** A stretch of a word; a quoted one means itself. */
interface Piece {
  readonly text: string
  readonly quoted: boolean
}

type Field = readonly Piece[]

type Fields = ReturnType<typeof collectFields>

/** Collects the words one word expands to. `separators` null: nothing is split. */
function collectFields(separators: string | null) {
  const fields: Piece[][] = [[]]
  return {
    add,
    /** Values of an expansion. The first and the last join the text before and after, as in `"a$@b"`. */
    addAll,
    /** Without those that vanish: empty and never quoted. */
    finish: (): readonly Field[] => fields.filter((field) => field.some(isThere)),
  }

  function add(text: string, quoted: boolean): void {
    fields.at(-1)?.push({ text, quoted })
  }

  function addAll(values: readonly string[], quoted: boolean): void {
    for (const [index, value] of values.entries()) {
      if (index > 0) fields.push([])
      if (quoted || separators === null) add(value, quoted)
      else addSplit(value, separators)
    }
  }

  function addSplit(value: string, at: string): void {
    let start = 0
    for (let index = 0; index < value.length; index += 1) {
      if (!at.includes(value.charAt(index))) continue
      add(value.slice(start, index), false)
      fields.push([])
      start = index + 1
    }
    add(value.slice(start), false)
  }
}

function fieldText(field: Field): string {
  return field.map(({ text }) => text).join('')
}

function fieldChars(field: Field): Char[] {
  return field.flatMap(({ text, quoted }) => charsOf(text, quoted))
}

function mayBeGlob(field: Field): boolean {
  return field.some(({ text, quoted }) => !quoted && /[*?[]|[@!+]\(/.test(text))
}

function isThere({ text, quoted }: Piece): boolean {
  return quoted || text !== ''
}

/** The words that a brace expansion produces, as source text; null when the word has none. */
function expandBraces(word: Word): readonly string[] | null {
  const brace = word.parts?.find(({ type }) => type === 'BraceExpansion')
  if (brace === undefined) return null
  const before = word.text.slice(0, brace.pos - word.pos)
  const after = word.text.slice(brace.end - word.pos)
  const options = optionsOf(brace.text.slice(1, -1))
  return options.slice(0, maxOptions).map((option) => `${before}${option}${after}`)
}

const maxOptions = 128

function optionsOf(inner: string): readonly string[] {
  const split = splitCommas(inner)
  if (split.length > 1) return split
  const range = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/.exec(inner)
  if (range === null) return [`\\{${inner}\\}`]
  const [, from = '', to = '', step = '1'] = range
  const numeric = /\d/.test(from)
  const start = numeric ? Number(from) : from.charCodeAt(0)
  const end = numeric ? Number(to) : to.charCodeAt(0)
  const by = Math.max(1, Math.abs(Number(step))) * (end < start ? -1 : 1)
  const count = Math.min(maxOptions, Math.floor(Math.abs((end - start) / by)) + 1)
  const width = numeric && /^-?0\d/.test(from) ? from.length : 0
  return Array.from({ length: count }, (_, index) => {
    const value = start + index * by
    return numeric ? String(value).padStart(width, '0') : String.fromCharCode(value)
  })
}

/** At commas outside quotes and inner braces. */
function splitCommas(text: string): string[] {
  const found = ['']
  let depth = 0
  let quote = ''
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index] ?? ''
    const last = found.length - 1
    if (char === '\\' && quote !== "'") {
      found[last] += char + (text[index + 1] ?? '')
      index += 1
      continue
    }
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === "'" || char === '"' || char === '`') quote = char
    else if (char === '{' || char === '(') depth += 1
    else if (char === '}' || char === ')') depth -= 1
    if (char === ',' && depth === 0 && quote === '') found.push('')
    else found[last] += char
  }
  return found
}
