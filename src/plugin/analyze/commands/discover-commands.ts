import { basename, dirname } from 'node:path'
import { counted } from '../../../core/counted.ts'
import { asObject, asString, type JsonObject } from '../../../core/json-fields.ts'
import { markdownTree, stem } from '../files/markdown-tree.ts'
import type { PluginFiles, PluginFileText } from '../files/plugin-files.ts'
import { declaredPaths, follow, noteIgnoredDirectory } from '../manifest/declared-paths.ts'
import { manifestFile, type PluginSource } from '../manifest/read-manifest.ts'
import { createNotes } from '../notes.ts'

export interface CommandSource {
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
