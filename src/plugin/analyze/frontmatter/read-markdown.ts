import { componentId } from '../../component-list.ts'
import type { ComponentType } from '../../contract.ts'
import type { PluginFileText } from '../files/plugin-files.ts'
import type { Notes } from '../notes.ts'
import { typeWord } from '../type-word.ts'
import { textField } from './fields.ts'
import { type Frontmatter, parseFrontmatter } from './parse-frontmatter.ts'

/** A Markdown file that is a component. */
export interface Markdown extends Frontmatter {
  readonly path: string
  /** From the frontmatter; null when there is none. */
  readonly description: string | null
}

/** The keys of which Claude Code takes only certain types. */
const textKeys = ['description', 'when_to_use'] as const
const toolKeys = ['allowed-tools', 'tools', 'disallowedTools'] as const

export function readMarkdown({ path, text, hadReturns }: PluginFileText): Markdown {
  const parsed = parseFrontmatter(text, hadReturns)
  return { ...parsed, path, description: textField(parsed.fields, 'description') }
}

/** What is wrong with the frontmatter itself, once it is known whose it is. */
export function noteFrontmatter(markdown: Markdown, type: ComponentType, name: string, notes: Notes): void {
  const { path, problem, fields } = markdown
  const components = [componentId(type, name)]
  if (problem !== undefined)
    notes.add('FRONTMATTER_INVALID', {
      message: problem.isRead
        ? `the frontmatter is not YAML (${problem.text}); Claude Code reads it line by line`
        : `the frontmatter is not YAML (${problem.text}); it is read as if there were none`,
      suggestion: 'Put quotes around texts that contain a colon, a bracket or a quote.',
      severity: problem.isRead ? 'warning' : 'error',
      components,
      path,
      line: problem.line,
    })
  if (isWrong(fields.name, isTextual))
    notes.add('FRONTMATTER_TYPE', {
      message: `name is ${typeWord(fields.name)}`,
      suggestion: 'Write it as a text.',
      severity: 'warning',
      components,
      path,
      line: markdown.lineOf('name'),
    })
  const wrong = [
    ...textKeys.filter((key) => isWrong(fields[key], isTextual)),
    ...toolKeys.filter((key) => isWrong(fields[key], isToolList)),
  ]
  for (const key of wrong)
    notes.add('FRONTMATTER_TYPE', {
      message: `${key} is ${typeWord(fields[key])}, so it is not used`,
      suggestion: isToolKey(key) ? 'Write a text with commas, or a list of texts.' : 'Write it as a text.',
      components,
      path,
      line: markdown.lineOf(key),
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

function isToolKey(key: string): boolean {
  return toolKeys.some((known) => known === key)
}

/** Used in place of a missing description. */
export function bodyStart(body: string): string {
  return body.trim().slice(0, bodyCharacters).trimEnd()
}

const bodyCharacters = 500
