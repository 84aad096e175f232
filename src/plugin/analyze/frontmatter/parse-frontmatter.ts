import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import { parseSource, type Source } from '../../../io/yaml-source.ts'

/** The frontmatter of a Markdown file, and the text below it. */
export interface Frontmatter {
  /** Empty when there is none, or none that can be read. */
  readonly fields: JsonObject
  /** Everything below it. */
  readonly body: string
  /** The line of the file on which the body begins. */
  readonly bodyLine: number
  /** Of the file; the first line when there is no such key. */
  lineOf(key: string): number
  readonly isPresent: boolean
  /** It is not YAML. `isRead`: Claude Code reads it nevertheless, and so do the fields. */
  readonly problem?: { readonly line: number; readonly text: string; readonly isRead: boolean }
}

/**
 * YAML between two lines of three dashes, the first of them at the very top. Never throws for what the text contains. The text has
 * no carriage returns any more; whether it had any matters, because Claude Code repairs only a text without them.
 */
export function parseFrontmatter(text: string, hadReturns = false): Frontmatter {
  const span = spanOf(text)
  if (span === null) return { fields: {}, body: text, bodyLine: 1, lineOf: () => 1, isPresent: false }
  const base = { body: span.body, bodyLine: span.bodyLine, isPresent: true }
  if (span.yaml.length > mostCharacters)
    return unread(base, { line: 1, text: `it has more than ${mostCharacters} characters` })
  const source = parseSource(span.yaml, '')
  if (source.kind === 'parsed') {
    const fields = asObject(source.value)
    if (fields !== null) return { ...base, fields, lineOf: linesOf(source) }
    return unread(base, { line: 2, text: 'it has no keys' })
  }
  const [first] = source.problems
  const line = Math.min((first?.at.line ?? 1) + 1, span.bodyLine - 2)
  const problem = { line, text: first?.text ?? 'it cannot be read' }
  for (const yaml of repairedTexts(span.yaml, hadReturns)) {
    const repaired = parseSource(yaml, '')
    const fields = repaired.kind === 'parsed' ? asObject(repaired.value) : null
    if (repaired.kind === 'parsed' && fields !== null)
      return { ...base, fields, lineOf: lineFinder(span.yaml), problem: { ...problem, isRead: true } }
  }
  return unread(base, problem)
}

function repairedTexts(yaml: string, hadReturns: boolean): readonly string[] {
  const tidy = tidyFrontmatter(yaml)
  return hadReturns ? [tidy] : [tidy, quoteFrontmatter(tidy)]
}

/** Nobody writes so much above a text, and a text made for it can keep the reader of YAML busy for the square of its length. */
const mostCharacters = 16 * 1024

function unread(
  base: Pick<Frontmatter, 'body' | 'bodyLine' | 'isPresent'>,
  problem: { readonly line: number; readonly text: string },
): Frontmatter {
  return { ...base, fields: {}, lineOf: () => problem.line, problem: { ...problem, isRead: false } }
}

function linesOf(source: Source): (key: string) => number {
  return (key) => (source.keyPositionOf([key]).line ?? 1) + 1
}

/** Lines are those of the file, not of the repaired text. For a duplicate key the last one is used. */
function lineFinder(yaml: string): (key: string) => number {
  const keys = yaml.split('\n').map((line) => line.trimStart().split(':')[0])
  return (key) => Math.max(keys.lastIndexOf(key), 0) + 2
}

interface Span {
  readonly yaml: string
  readonly body: string
  readonly bodyLine: number
}

function spanOf(text: string): Span | null {
  const opening = /^---[ \t]*\n/.exec(text)?.[0]
  if (opening === undefined) return null
  const closing = /^---[ \t]*$/m.exec(text.slice(opening.length))
  if (closing === null) return null
  const yaml = text.slice(opening.length, opening.length + closing.index)
  const after = opening.length + closing.index + closing[0].length
  return { yaml, body: text.slice(after + 1), bodyLine: yaml.split('\n').length + 2 }
}

/**
 * What Claude Code reads although YAML forbids it: the last of duplicate keys, a value with an unknown tag, and keys indented by a
 * tab.
 */
function tidyFrontmatter(yaml: string): string {
  const lines = yaml.split('\n').map((line) => line.replace(/^\t+/, ''))
  return withoutRepeats(lines)
    .map((line) => line.replace(/^([A-Za-z_][\w-]*:[ \t]+)![\w!-]*(?:[ \t]+|$)/, '$1'))
    .join('\n')
}

/**
 * What Claude Code tries next: a value on the line of its key is read as if it were quoted. `description: Use when: asked` is the
 * common case. When this fails too, the frontmatter is not read.
 */
function quoteFrontmatter(yaml: string): string {
  return yaml.split('\n').map(quoted).join('\n')
}

/** Lines without a key belong to the one above. */
function withoutRepeats(lines: readonly string[]): readonly string[] {
  const keys = lines.map((line) => /^([A-Za-z_][\w-]*):(?:[ \t]|$)/.exec(line)?.[1])
  const last = new Map(keys.map((key, index) => [key, index]))
  let isKept = true
  return lines.filter((_, index) => {
    const key = keys[index]
    if (key !== undefined) isKept = last.get(key) === index
    return isKept
  })
}

const special = /[{}[\]*&#!|>%@`]|: /
const isQuoted = /^"(?:[^"\\]|\\.)*"$|^'(?:[^']|'')*'$/

function quoted(line: string): string {
  const found = /^([A-Za-z_-]+):[ \t]+(\S.*)$/.exec(line)
  if (found === null) return line
  const [, key = '', value = ''] = found
  const text = value.trimEnd()
  if (!special.test(text) || isQuoted.test(text)) return line
  const isList = /^[[{]/.test(text) && parseSource(`x: ${text}`, '').kind === 'parsed'
  return isList ? line : `${key}: ${JSON.stringify(text)}`
}
