import type { JsonObject } from '../../core/json-fields.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { ComponentType } from '../contract.ts'
import type { CommandComponent, SkillComponent } from './contract.ts'
import { type Markdown, nameField, textField, toolsField } from './frontmatter/read-markdown.ts'
import { isServerTool, knownTools } from './known-tools.ts'
import { about, type Notes } from './notes.ts'

/** Reports a skill or command whose description is missing, or too long to be shown in full. */
function noteComponentDescription(
  type: ComponentType,
  component: SkillComponent | CommandComponent,
  listed: string | null,
  markdown: Markdown,
  notes: Notes,
): void {
  if (listed === null && markdown.description === null)
    notes.add('DESCRIPTION_MISSING', {
      message: `the ${type} has no description, so Claude Code never lists it for its model`,
      // People type a command; a skill and an agent are for the model.
      ...((component.disable_model_invocation || type === 'command') && { severity: 'info' }),
      ...about(type, { ...component, line: 1 }),
    })
  if (listed !== null && listed.length > longestListed)
    notes.add('DESCRIPTION_TOO_LONG', {
      message: `the model sees the first ${longestListed} of ${listed.length} characters of the description`,
      ...about(type, { ...component, line: markdown.lineOf('description') }),
      detail: { characters: listed.length, limit: longestListed },
    })
}

/** Reports a component that Claude Code calls by another name than its author. */
function noteComponentName(
  type: ComponentType,
  { name, path, cli_name: cli }: SkillComponent | CommandComponent,
  written: string,
  called: string,
  line: number,
  notes: Notes,
): void {
  const isDirectory = path.split('/').includes(written)
  if (written === called || (!isDirectory && plainName(written) === plainName(called))) return
  notes.add('NAME_NOT_USED', {
    message: `its author calls it '${written}', but Claude Code calls it ${cli}`,
    ...about(type, { name, path, line }),
  })
}

/** `acme:go`, `/go` and `Go` are the same name: prefixes and case do not count, and a blank is a hyphen. */
function plainName(name: string): string {
  const last = name.slice(Math.max(name.lastIndexOf(':'), name.lastIndexOf('/')) + 1)
  return last
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '-')
}

/** Reports tools that Claude Code does not have. `Bash(git *)` is a rule about Bash. */
export function noteComponentTools(
  type: ComponentType,
  name: string,
  key: string,
  { fields, path, lineOf }: Markdown,
  notes: Notes,
): void {
  for (const written of toolsField(fields, key)) {
    const tool = written.replace(/\(.*$/s, '').trim()
    if (tool === '' || tool === '*' || isServerTool(tool) || knownTools.includes(tool)) continue
    notes.add('UNKNOWN_TOOL', {
      message: `Claude Code has no tool '${tool}'`,
      suggestion: didYouMean(
        tool,
        knownTools,
        'Remove it; a tool of a server has a name such as mcp__server__tool.',
      ),
      ...about(type, { name, path, line: lineOf(key) }),
    })
  }
}

/** A skill or a command, and how it appears in the listing for the model. */
export interface Invocable<T> {
  readonly component: T
  /** Its text there; null when it is not listed. */
  readonly listed: string | null
  /** The name in its frontmatter, if Claude Code calls it by another one. */
  readonly alias: string | null
}

/** `written` is the name that its author gave it, `called` that of Claude Code. */
export function invocable<T extends SkillComponent | CommandComponent>(
  type: 'skill' | 'command',
  component: T,
  markdown: Markdown,
  { written, called, listed }: Readonly<Record<'written' | 'called', string>> & Pick<Invocable<T>, 'listed'>,
  notes: Notes,
): Invocable<T> {
  noteComponentName(type, component, written, called, markdown.lineOf('name'), notes)
  noteComponentDescription(type, component, listed, markdown, notes)
  noteComponentTools(type, component.name, 'allowed-tools', markdown, notes)
  const alias = aliasOf(markdown.fields, component.cli_name)
  return { component, listed: component.disable_model_invocation ? null : listed, alias }
}

/** The text Claude Code lists for a skill or a command; null when neither description nor when_to_use is set. */
export function listedText(fields: JsonObject, body: string): string | null {
  const description = textField(fields, 'description')
  const occasion = textField(fields, 'when_to_use')
  if (description === null && occasion === null) return null
  const text = description ?? firstLine(body)
  const lines = (occasion === null ? text : `${text} - ${occasion}`).split('\n')
  return lines
    .map((line) => line.trim())
    .join(' ')
    .trim()
}

/** The name in the frontmatter as Claude Code reports it, if it calls the component by another one. */
function aliasOf(fields: JsonObject, cliName: string): string | null {
  const name = nameField(fields)
  if (name === null) return null
  const alias = cliName.slice(0, cliName.lastIndexOf(':') + 1) + name
  return alias === cliName ? null : alias
}

function firstLine(body: string): string {
  const line = body.split('\n').find((each) => each.trim() !== '') ?? ''
  return line.replace(/^#+\s*/, '').trim()
}

/** Description and `when_to_use` together are cut at this length, in UTF-16 units. */
export const longestListed = 1_536
