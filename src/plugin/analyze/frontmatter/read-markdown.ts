import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import { parseYamlSource, type Source } from '../../../io/yaml-source.ts'
import type { ComponentType } from '../../contract.ts'
import { describeType } from '../describe-type.ts'
import type { PluginFileText } from '../files/plugin-files.ts'
import { about, type Notes } from '../notes.ts'

/** A Markdown file that is a component. */
export interface Markdown extends Frontmatter {
  readonly path: string
  /** From the frontmatter; null when there is none. */
  readonly description: string | null
}

/** Keys for which Claude Code accepts only certain types. */
const textKeys = ['description', 'when_to_use'] as const
const toolKeys = ['allowed-tools', 'tools', 'disallowedTools'] as const

export function readMarkdown({ path, text, hadReturns }: PluginFileText): Markdown {
  const parsed = parseFrontmatter(text, hadReturns)
  return { ...parsed, path, description: textField(parsed.fields, 'description') }
}

/** Reports problems of the frontmatter itself, once its component is known. */
export function noteFrontmatter(markdown: Markdown, type: ComponentType, name: string, notes: Notes): void {
  const { path, problem, fields, lineOf } = markdown
  const at = (line: number) => about(type, { name, path, line })
  if (problem !== undefined)
    notes.add('FRONTMATTER_INVALID', {
      message: problem.isRead
        ? `the frontmatter is not YAML (${problem.text}); Claude Code reads it line by line`
        : `the frontmatter is not YAML (${problem.text}); it is read as if there were none`,
      // Claude Code still gets every value, and `claude plugin validate` accepts it.
      severity: problem.isRead ? 'info' : 'error',
      ...at(problem.line),
    })
  if (isWrong(fields.name, isTextual))
    notes.add('FRONTMATTER_TYPE', {
      message: `name is ${describeType(fields.name)}`,
      suggestion: 'Write it as a text.',
      severity: 'warning',
      ...at(lineOf('name')),
    })
  const wrong = [
    ...textKeys.filter((key) => isWrong(fields[key], isTextual)).map((key) => [key, 'it as a text'] as const),
    ...toolKeys
      .filter((key) => isWrong(fields[key], isToolList))
      .map((key) => [key, 'a text with commas, or a list of texts'] as const),
  ]
  for (const [key, words] of wrong)
    notes.add('FRONTMATTER_TYPE', {
      message: `${key} is ${describeType(fields[key])}, so it is not used`,
      suggestion: `Write ${words}.`,
      ...at(lineOf(key)),
    })
}

function isWrong(value: unknown, isRight: (value: unknown) => boolean): boolean {
  return value !== undefined && value !== null && !isRight(value)
}

function isTextual(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function isToolList(value: unknown): boolean {
  return (
    typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
  )
}

/** Used in place of a missing description. */
export function bodyStart(body: string): string {
  return body.trim().slice(0, bodyCharacters).trimEnd()
}

const bodyCharacters = 500

/** The frontmatter of a Markdown file, and the text below it. */
interface Frontmatter {
  /** Empty when it is missing or cannot be read. */
  readonly fields: JsonObject
  /** Everything below it. */
  readonly body: string
  /** The line of the file on which the body begins. */
  readonly bodyLine: number
  /** Of the file; the first line when there is no such key. */
  lineOf(key: string): number
  readonly isPresent: boolean
  /** It is not YAML. `isRead`: Claude Code reads it nevertheless, and `fields` has the result. */
  readonly problem?: { readonly line: number; readonly text: string; readonly isRead: boolean }
}

/**
 * YAML between two lines of three dashes, the first at the very top. Never throws for the content of the text. Carriage returns
 * have been removed, but Claude Code repairs only a text that had none, so the caller passes whether it had any.
 */
export function parseFrontmatter(text: string, hadReturns = false): Frontmatter {
  const span = spanOf(text)
  if (span === null) return { fields: {}, body: text, bodyLine: 1, lineOf: () => 1, isPresent: false }
  const base = { body: span.body, bodyLine: span.bodyLine, isPresent: true }
  if (span.yaml.length > mostCharacters)
    return unread(base, { line: 1, text: `it has more than ${mostCharacters} characters` })
  const source = parseYamlSource(span.yaml, '')
  if (source.kind === 'parsed') {
    const fields = asObject(source.value)
    if (fields !== null) return { ...base, fields, lineOf: linesOf(source) }
    return unread(base, { line: 2, text: 'it has no keys' })
  }
  const [first] = source.problems
  const line = Math.min((first?.at.line ?? 1) + 1, span.bodyLine - 2)
  const problem = { line, text: first?.text ?? 'it cannot be read' }
  for (const yaml of repairedTexts(span.yaml, hadReturns)) {
    const repaired = parseYamlSource(yaml, '')
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

/** No real frontmatter is this long, and a hostile one can take the YAML parser quadratic time. */
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

function spanOf(text: string) {
  const opening = /^---[ \t]*\n/.exec(text)?.[0]
  if (opening === undefined) return null
  const closing = /^---[ \t]*$/m.exec(text.slice(opening.length))
  if (closing === null) return null
  const yaml = text.slice(opening.length, opening.length + closing.index)
  const after = opening.length + closing.index + closing[0].length
  return { yaml, body: text.slice(after + 1), bodyLine: yaml.split('\n').length + 2 }
}

/**
 * What Claude Code reads although YAML forbids it: the last of duplicate keys, a value with an unknown tag, and keys indented by a tab.
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

/** Lines without a key belong to the key above. */
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
  const isList = /^[[{]/.test(text) && parseYamlSource(`x: ${text}`, '').kind === 'parsed'
  return isList ? line : `${key}: ${JSON.stringify(text)}`
}

/** The text of a string, number or boolean, as in Claude Code; null for anything else. */
export function textField(fields: JsonObject, key: string): string | null {
  const value = fields[key]
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return null
  const text = value.trim()
  return text === '' ? null : text
}

/** A name may be a list; Claude Code converts it to text. */
export function nameField(fields: JsonObject): string | null {
  const { name } = fields
  if (!Array.isArray(name)) return textField(fields, 'name')
  const text = name.filter((item) => ['string', 'number', 'boolean'].includes(typeof item)).join(',')
  return text === '' ? null : text
}

/** `true`, and common spellings of it. */
export function flagField(fields: JsonObject, key: string): boolean | null {
  const value = fields[key]
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return null
  const word = value.trim().toLowerCase()
  if (['true', 'yes', 'on', '1'].includes(word)) return true
  return ['false', 'no', 'off', '0'].includes(word) ? false : null
}

/** Tools as written: a list, or a text separated by commas or blanks. Text in parentheses stays together. */
export function toolsField(fields: JsonObject, key: string): readonly string[] {
  const value = fields[key]
  if (Array.isArray(value)) return value.flatMap((item) => (typeof item === 'string' ? splitTools(item) : []))
  return typeof value === 'string' ? splitTools(value) : []
}

function splitTools(text: string): readonly string[] {
  const separator = text.replaceAll(/\([^()]*\)/g, '').includes(',') ? /,/ : /\s/
  const found: string[] = []
  let depth = 0
  let current = ''
  for (const char of text) {
    if (char === '(') depth += 1
    if (char === ')') depth = Math.max(0, depth - 1)
    if (depth === 0 && separator.test(char)) {
      found.push(current)
      current = ''
    } else current += char
  }
  return [...found, current].map((tool) => tool.trim()).filter((tool) => tool !== '')
}
