import { type Char, charsOf } from './glob-pattern.ts'

/** A stretch of a word; a quoted one means itself. */
interface Piece {
  readonly text: string
  readonly quoted: boolean
}

export type Field = readonly Piece[]

export interface Fields {
  add(text: string, quoted: boolean): void
  /** Values of an expansion. The first and the last join what stands before and after, as in `"a$@b"`. */
  addAll(values: readonly string[], quoted: boolean): void
  /** Without those that vanish: empty and never quoted. */
  finish(): readonly Field[]
}

/** Collects the words one word expands to. `separators` null: nothing is split. */
export function collectFields(separators: string | null): Fields {
  const fields: Piece[][] = [[]]
  return { add, addAll, finish: () => fields.filter((field) => field.some(isThere)) }

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

export function fieldText(field: Field): string {
  return field.map(({ text }) => text).join('')
}

export function fieldChars(field: Field): Char[] {
  return field.flatMap(({ text, quoted }) => charsOf(text, quoted))
}

export function mayBeGlob(field: Field): boolean {
  return field.some(({ text, quoted }) => !quoted && /[*?[]|[@!+]\(/.test(text))
}

function isThere({ text, quoted }: Piece): boolean {
  return quoted || text !== ''
}
