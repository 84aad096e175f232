import { asString } from '../../../core/json-fields.ts'
import { componentId } from '../../component-list.ts'
import { cliName } from '../component-names.ts'
import type { CommandComponent } from '../contract.ts'
import { flagField, nameField, textField, toolsField } from '../frontmatter/fields.ts'
import { bodyStart, type Markdown, noteFrontmatter } from '../frontmatter/read-markdown.ts'
import { aliasOf, listedText } from '../listed-text.ts'
import { noteDescription, noteName, noteTools } from '../note-component.ts'
import type { Notes } from '../notes.ts'
import type { CommandSource } from './discover-commands.ts'

export interface FoundCommand {
  readonly component: CommandComponent
  /** Its text in the listing for the model; null when it is not listed. */
  readonly listed: string | null
  readonly alias: string | null
}

export function commandComponent(
  source: CommandSource,
  given: Markdown,
  plugin: string,
  nameOf: (...wanted: readonly [string, ...string[]]) => string,
  notes: Notes,
): FoundCommand {
  const markdown = withManifestEntry(source, given)
  const { fields, body, path } = markdown
  const parts = [...source.namespace, source.fileName]
  const name = nameOf(parts.join('/'))
  const cli = cliName(plugin, parts)
  const listed = listedText(fields, body)
  const hint = hintOf(markdown, name, notes)
  const component: CommandComponent = {
    name,
    cli_name: cli,
    plugin,
    path,
    line: source.line ?? markdown.lineOf('description'),
    description: markdown.description ?? bodyStart(body),
    namespace: source.namespace.join('/'),
    invocation: `/${cli}`,
    argument_hint: hint,
    arguments: hint === null ? [] : hintArguments(hint),
    allowed_tools: toolsField(fields, 'allowed-tools'),
    disable_model_invocation: flagField(fields, 'disable-model-invocation') ?? false,
  }
  noteFrontmatter(given, 'command', name, notes)
  if (flagField(fields, 'user-invocable') === false)
    notes.add('NOT_INVOCABLE', {
      message: `users cannot type ${component.invocation}: user-invocable is false`,
      suggestion: 'Remove user-invocable, or make it a skill.',
      components: [componentId('command', name)],
      path,
      line: markdown.lineOf('user-invocable'),
    })
  const written = nameField(fields) ?? source.fileName
  noteName('command', component, written, source.fileName, markdown.lineOf('name'), notes)
  noteDescription('command', component, listed, markdown, notes)
  noteTools('command', component, component.allowed_tools, markdown.lineOf('allowed-tools'), notes)
  return {
    component,
    listed: component.disable_model_invocation ? null : listed,
    alias: aliasOf(fields, cli),
  }
}

/** The manifest's entry of a command overrides its frontmatter. */
function withManifestEntry({ entry, line }: CommandSource, markdown: Markdown): Markdown {
  if (entry === undefined) return markdown
  const description = asString(entry.description)
  const fields = {
    ...markdown.fields,
    ...(description !== undefined && { description }),
    ...(entry.argumentHint !== undefined && { 'argument-hint': entry.argumentHint }),
    ...(entry.allowedTools !== undefined && { 'allowed-tools': entry.allowedTools }),
    ...(entry.model !== undefined && { model: entry.model }),
  }
  return {
    ...markdown,
    fields,
    description: textField(fields, 'description'),
    lineOf: (key) => (entry[key] === undefined || line === undefined ? markdown.lineOf(key) : line),
  }
}

function hintOf(markdown: Markdown, name: string, notes: Notes): string | null {
  const value = markdown.fields['argument-hint']
  const about = {
    components: [componentId('command', name)],
    path: markdown.path,
    line: markdown.lineOf('argument-hint'),
  }
  const hint = readHint(value)
  if (hint !== null && hint.length > longestHint) {
    notes.add('ARGUMENT_HINT', {
      message: `the argument hint has ${hint.length} characters, more than ${longestHint}; it is not used`,
      suggestion: 'Name the arguments in a few words: [file] <name>.',
      ...about,
    })
    return null
  }
  if (value !== undefined && value !== null && typeof value !== 'string')
    notes.add('ARGUMENT_HINT', {
      message: `without quotes YAML does not read the argument hint as text; users see ${JSON.stringify(shownAs(value))}`,
      suggestion: `Put it into quotes: argument-hint: "${hint ?? '[file]'}".`,
      severity: 'info',
      ...about,
    })
  return hint
}

/** As JavaScript makes a text of it, which is what the CLI shows. */
function shownAs(value: unknown): string {
  if (Array.isArray(value)) return value.map(shownAs).join(',')
  return typeof value === 'object' && value !== null ? '[object Object]' : String(value ?? '')
}

/** A longer hint is not used. */
const longestHint = 1_000

/** What a person may give: the names in `[x]` and `<x>`, in the order of the hint. */
export function hintArguments(hint: string): readonly string[] {
  const found: string[] = []
  let depth = 0
  let current = ''
  for (const char of hint) {
    const isOpening = char === '[' || char === '<'
    const isClosing = char === ']' || char === '>'
    if (isClosing && depth === 1) {
      found.push(current.trim())
      current = ''
    } else if (depth > 0) current += char
    if (isOpening) depth += 1
    if (isClosing) depth = Math.max(0, depth - 1)
  }
  return found.filter((name) => name !== '')
}

/** The hint as its author meant it. YAML reads `[a]` as a list of one word. */
export function readHint(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim()
  if (!Array.isArray(value)) return null
  const words = value.filter((item) => ['string', 'number'].includes(typeof item)).map(String)
  return words.length === 0 ? null : words.map((word) => `[${word}]`).join(' ')
}
