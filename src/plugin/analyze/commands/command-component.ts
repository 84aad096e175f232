import { asString } from '../../../core/json-fields.ts'
import { type ComponentNames, cliName } from '../component-names.ts'
import type { CommandComponent } from '../contract.ts'
import { flagField, nameField, textField, toolsField } from '../frontmatter/fields.ts'
import { bodyStart, type Markdown, noteFrontmatter } from '../frontmatter/read-markdown.ts'
import type { PluginSource } from '../manifest/read-manifest.ts'
import {
  aliasOf,
  type Invocable,
  listedText,
  noteComponentDescription,
  noteComponentName,
  noteComponentTools,
} from '../note-component.ts'
import { about, type Notes } from '../notes.ts'
import { triggerFields } from '../trigger-phrases.ts'
import type { CommandSource } from './discover-commands.ts'

export function commandComponent(
  source: CommandSource,
  given: Markdown,
  { name: plugin, notes }: PluginSource,
  nameOf: ComponentNames,
): Invocable<CommandComponent> {
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
    ...triggerFields(listed ?? '', { isCuedOnly: true }),
  }
  noteFrontmatter(given, 'command', name, notes)
  if (flagField(fields, 'user-invocable') === false)
    notes.add('NOT_INVOCABLE', {
      message: `users cannot type ${component.invocation}: user-invocable is false`,
      suggestion: 'Remove user-invocable, or make it a skill.',
      ...about('command', { name, path, line: markdown.lineOf('user-invocable') }),
    })
  const written = nameField(fields) ?? source.fileName
  noteComponentName('command', component, written, source.fileName, markdown.lineOf('name'), notes)
  noteComponentDescription('command', component, listed, markdown, notes)
  noteComponentTools('command', name, 'allowed-tools', markdown, notes)
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
  const at = about('command', { name, path: markdown.path, line: markdown.lineOf('argument-hint') })
  const hint = readHint(value)
  if (hint !== null && hint.length > longestHint) {
    notes.add('ARGUMENT_HINT', {
      message: `the argument hint has ${hint.length} characters, more than ${longestHint}; it is not used`,
      suggestion: 'Name the arguments in a few words: [file] <name>.',
      ...at,
    })
    return null
  }
  if (value !== undefined && value !== null && typeof value !== 'string')
    notes.add('ARGUMENT_HINT', {
      message: `without quotes YAML does not read the argument hint as text; users see ${JSON.stringify(shownAs(value))}`,
      suggestion: `Put it into quotes: argument-hint: "${hint ?? '[file]'}".`,
      severity: 'info',
      ...at,
    })
  return hint
}

/** The text that JavaScript makes of it, which is what the CLI shows. */
function shownAs(value: unknown): string {
  if (Array.isArray(value)) return value.map(shownAs).join(',')
  return typeof value === 'object' && value !== null ? '[object Object]' : String(value ?? '')
}

/** Longer hints are not used. */
const longestHint = 1_000

/** The arguments: the names in `[x]` and `<x>`, in the order of the hint. */
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

/** The intended hint. YAML reads `[a]` as a list of one word. */
export function readHint(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim()
  if (!Array.isArray(value)) return null
  const words = value.filter((item) => ['string', 'number'].includes(typeof item)).map(String)
  return words.length === 0 ? null : words.map((word) => `[${word}]`).join(' ')
}
