import { basename, dirname } from 'node:path'
import { counted } from '../../../core/counted.ts'
import { asObject, asString, type JsonObject } from '../../../core/json-fields.ts'
import { type ComponentNames, cliName } from '../component-names.ts'
import type { CommandComponent } from '../contract.ts'
import { markdownTree, stem } from '../files/markdown-tree.ts'
import type { PluginFiles, PluginFileText } from '../files/plugin-files.ts'
import {
  bodyStart,
  flagField,
  type Markdown,
  nameField,
  noteFrontmatter,
  textField,
  toolsField,
} from '../frontmatter/read-markdown.ts'
import { declaredPaths, follow, noteIgnoredDirectory } from '../manifest/declared-paths.ts'
import { manifestFile, type PluginSource } from '../manifest/read-manifest.ts'
import { type Invocable, invocable, listedText } from '../note-component.ts'
import { about, createNotes, type Notes } from '../notes.ts'
import { triggerFields } from '../trigger-phrases.ts'

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
  const names = { written: nameField(fields) ?? source.fileName, called: source.fileName }
  return invocable('command', component, markdown, { ...names, listed }, notes)
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

interface CommandSource {
  /** Path of the manifest when the command is written there. */
  readonly path: string
  readonly namespace: readonly string[]
  readonly fileName: string
  /** Its text, when it is not in a file. */
  readonly text?: string
  /** Its entry in the manifest, which overrides the frontmatter. */
  readonly entry?: JsonObject
  readonly line?: number
}

const standard = 'commands'

/** Every Markdown file below `commands/`, or only those the manifest names, if it names any. In Claude Code's order. */
export function discoverCommands(plugin: PluginSource): readonly CommandSource[] {
  const map = asObject(plugin.manifest.fields.commands)
  const found = map === null ? commandFiles(plugin) : commandMap(map, plugin)
  if (found === null) return commandsIn(standard, plugin)
  const paths = found.map(({ path }) => path)
  noteIgnoredDirectory(standard, paths, 'commands', plugin)
  return found.filter(({ path, text }, index) => text !== undefined || paths.indexOf(path) === index)
}

function commandFiles(plugin: PluginSource): CommandSource[] | null {
  const declared = declaredPaths('commands', plugin)
  if (declared === null) return null
  return declared.paths.flatMap(({ path, kind }) => {
    if (kind === 'directory') return commandsIn(path, plugin)
    return path.endsWith('.md') ? [{ path, namespace: [], fileName: stem(path) }] : []
  })
}

function commandMap(map: JsonObject, plugin: PluginSource): CommandSource[] {
  const found = Object.entries(map).flatMap(([name, value]): CommandSource[] => {
    const line = plugin.manifest.lineOf(['commands', name])
    const entry = asObject(value)
    const source = asString(entry?.source)
    const text = asString(entry?.content)
    if (entry === null || (source === undefined) === (text === undefined)) {
      plugin.notes.add('MANIFEST_TYPE', {
        message: `the command ${name} must have either source or content, so Claude Code loads nothing of this plugin`,
        suggestion: 'Write a path as source, or the text of the command as content.',
        unloads: true,
        path: manifestFile,
        line,
      })
      return []
    }
    if (text !== undefined) return [{ path: manifestFile, namespace: [], fileName: name, text, entry, line }]
    const file = follow(source ?? '', `commands.${name}`, line, plugin)
    return file?.kind === 'file' ? [{ path: file.path, namespace: [], fileName: name, entry, line }] : []
  })
  // Commands with inline text are loaded last.
  return [
    ...found.filter(({ text }) => text === undefined),
    ...found.filter(({ text }) => text !== undefined),
  ]
}

function commandsIn(top: string, plugin: PluginSource): CommandSource[] {
  const paths = markdownTree(top, plugin, (names) => names.find(isSkillFile))
  noteHidden(top, paths, plugin)
  // Directory by directory, in the order in which they first appear.
  return [...Map.groupBy(paths, dirname).values()].flat().map((path) => commandSource(top, path))
}

/**
 * A skill.md that seems to be a command like its siblings: it lies directly in the directory of commands, or is in lower case. A
 * SKILL.md in a directory of its own is meant to stand for it.
 */
function noteHidden(top: string, paths: readonly string[], { files, notes }: PluginSource): void {
  for (const path of paths) {
    const directory = dirname(path)
    const name = basename(path)
    if (!isSkillFile(name) || (directory !== top && name === 'SKILL.md')) continue
    const hidden = markdownTree(directory, { files, notes: createNotes() }).filter((other) => other !== path)
    if (hidden.length === 0) continue
    notes.add('COMMANDS_HIDDEN', {
      message: `${path} makes Claude Code load ${directory}/ as one command and hides ${counted(hidden.length, 'other command')}: ${hidden.slice(0, 5).join(', ')}${hidden.length > 5 ? ` and ${hidden.length - 5} more` : ''}`,
      suggestion: `Rename ${path}.`,
      path,
      detail: { hidden },
    })
  }
}

/** A SKILL.md takes the name of its directory, and no other file there is a command. */
function commandSource(top: string, path: string): CommandSource {
  const steps = path.slice(top === '' ? 0 : top.length + 1).split('/')
  const fileName = steps.at(-1) ?? ''
  const directories = steps.slice(0, -1)
  if (!isSkillFile(fileName)) return { path, namespace: directories, fileName: stem(path) }
  return { path, namespace: directories.slice(0, -1), fileName: directories.at(-1) ?? basename(top) }
}

function isSkillFile(name: string): boolean {
  return /^skill\.md$/i.test(name)
}

/** The text of a command, from its file or the manifest; null when it cannot be read. */
export function commandText({ path, text }: CommandSource, files: PluginFiles): PluginFileText | null {
  return text === undefined ? files.readComponent(path) : { path, text, hasMark: false, hadReturns: false }
}
