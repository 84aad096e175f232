import { type JsoncNode, parseJsonc } from './parse-jsonc.ts'

export type JsonPlace = readonly (string | number)[]

export interface NewEntry {
  /** Of an object; absent for a list. */
  readonly key?: string
  readonly value: unknown
}

/**
 * Appends an entry: the last key of the object at `place`, or the last item of the list there. No other byte changes, except the
 * comma before it and the line of its closing bracket.
 */
export function appendJson(text: string, place: JsonPlace, { key, value }: NewEntry): string {
  const holder = nodeAt(text, place)
  const last = entriesOf(holder).at(-1)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? '  '
  const outer = indentOfLine(text, holder.start)
  const inner =
    last !== undefined && startsItsLine(text, last.start) ? indentOfLine(text, last.start) : outer + unit
  const written = JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${inner}`)
  const entry = `${eol}${inner}${key === undefined ? '' : `${JSON.stringify(key)}: `}${written}`
  const close = holder.end - 1
  if (last === undefined) {
    const inside = text.slice(holder.start + 1, close).trimEnd()
    return splice(text, holder.start + 1 + inside.length, close, `${entry}${eol}${outer}`)
  }
  const tail = text.slice(last.end, close)
  const comment = /^[ \t]*(?:\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)/.exec(tail)?.[0] ?? ''
  const rest = tail.slice(comment.length)
  return splice(text, last.end, close, `,${comment}${entry}${/[\r\n]/.test(rest) ? rest : `${eol}${outer}`}`)
}

/** Removes the entry at `place` and one comma. Comments beside it stay. */
export function removeJson(text: string, place: JsonPlace): string {
  const holder = nodeAt(text, place.slice(0, -1))
  const entries = entriesOf(holder)
  const index = indexOf(holder, place.at(-1))
  const entry = entries[index]
  if (entry === undefined) return text
  const [before, after] = [entries[index - 1], entries[index + 1]]
  if (after !== undefined) {
    const kept = commentsOf(text.slice(entry.end, after.start)).trimStart()
    return splice(text, entry.start, after.start, kept)
  }
  if (before !== undefined) {
    const kept = commentsOf(text.slice(before.end, entry.start))
    const endsLine = /^[ \t]*\r?\n/.test(text.slice(entry.end))
    return splice(text, before.end, entry.end, endsLine ? kept.trimEnd() : kept)
  }
  const rest = text.slice(holder.start + 1, entry.start) + text.slice(entry.end, holder.end - 1)
  return splice(text, holder.start + 1, holder.end - 1, rest.trim() === '' ? '' : rest)
}

interface Entry {
  readonly start: number
  readonly end: number
  readonly node: JsoncNode
}

/** Throws a TypeError for a text that does not parse or a missing place. The caller has checked both. */
function nodeAt(text: string, place: JsonPlace): JsoncNode {
  const parsed = parseJsonc(text, { comments: true })
  if (parsed.kind === 'broken') throw new TypeError(parsed.text)
  let node = parsed.node
  for (const step of place) {
    const next = entriesOf(node)[indexOf(node, step)]
    if (next === undefined) throw new TypeError(`there is nothing at ${place.join('.')}`)
    node = next.node
  }
  return node
}

function entriesOf(node: JsoncNode): readonly Entry[] {
  if (node.kind === 'array')
    return node.items.map((item) => ({ start: item.start, end: item.end, node: item }))
  if (node.kind === 'object')
    return node.members.map(({ keyStart, value }) => ({ start: keyStart, end: value.end, node: value }))
  return []
}

/** The last of two equal keys counts. */
function indexOf(node: JsoncNode, step: string | number | undefined): number {
  if (node.kind === 'object') return node.members.findLastIndex(({ key }) => key === step)
  return typeof step === 'number' ? step : -1
}

/** The text between two entries without the comma; empty without a comment. */
function commentsOf(between: string): string {
  let taken = false
  let comments = 0
  const kept = between.replaceAll(/\/\/[^\r\n]*|\/\*[\s\S]*?\*\/|,/g, (found) => {
    if (found !== ',') comments += 1
    else if (!taken) {
      taken = true
      return ''
    }
    return found
  })
  return comments === 0 ? '' : kept
}

function indentOfLine(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? ''
}

function startsItsLine(text: string, offset: number): boolean {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  return lineStart > 0 && text.slice(lineStart, offset).trim() === ''
}

function splice(text: string, start: number, end: number, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end)
}
