import { basename, dirname } from 'node:path'
import { asObject, asString, type JsonObject } from '../../../core/json-fields.ts'
import { markdownTree } from '../files/markdown-tree.ts'
import type { PluginFiles, PluginFileText } from '../files/plugin-files.ts'
import { declaredPaths, follow, noteIgnoredDirectory } from '../manifest/declared-paths.ts'
import { manifestFile, type PluginManifest } from '../manifest/read-manifest.ts'
import type { Notes } from '../notes.ts'

export interface CommandSource {
  /** The manifest's path when the command is written there. */
  readonly path: string
  readonly namespace: readonly string[]
  readonly fileName: string
  /** Its text, where that is not a file. */
  readonly text?: string
  /** Its entry in the manifest, which overrides the frontmatter. */
  readonly entry?: JsonObject
  readonly line?: number
}

const standard = 'commands'

/** Every Markdown file below `commands/`, or only what the manifest names, as soon as it names any. In Claude Code's order. */
export function discoverCommands(
  files: PluginFiles,
  manifest: PluginManifest,
  notes: Notes,
): readonly CommandSource[] {
  const map = asObject(manifest.fields.commands)
  const found = map === null ? commandFiles(files, manifest, notes) : commandMap(map, files, manifest, notes)
  if (found === null) return commandsIn(standard, files, notes)
  const paths = found.map(({ path }) => path)
  noteIgnoredDirectory(standard, paths, 'commands', files, manifest, notes)
  return found.filter(({ path, text }, index) => text !== undefined || paths.indexOf(path) === index)
}

function commandFiles(files: PluginFiles, manifest: PluginManifest, notes: Notes): CommandSource[] | null {
  const declared = declaredPaths(manifest, 'commands', files, notes)
  if (declared === null) return null
  return declared.paths.flatMap(({ path, kind }) => {
    if (kind === 'directory') return commandsIn(path, files, notes)
    return path.endsWith('.md') ? [{ path, namespace: [], fileName: stem(path) }] : []
  })
}

function commandMap(
  map: JsonObject,
  files: PluginFiles,
  manifest: PluginManifest,
  notes: Notes,
): CommandSource[] {
  const found = Object.entries(map).flatMap(([name, value]): CommandSource[] => {
    const line = manifest.lineOf(['commands', name])
    const entry = asObject(value)
    const source = asString(entry?.source)
    const text = asString(entry?.content)
    if (entry === null || (source === undefined) === (text === undefined)) {
      notes.add('MANIFEST_TYPE', {
        message: `the command ${name} must have either source or content, so Claude Code loads nothing of this plugin`,
        suggestion: 'Write a path as source, or the text of the command as content.',
        path: manifestFile,
        line,
      })
      return []
    }
    if (text !== undefined) return [{ path: manifestFile, namespace: [], fileName: name, text, entry, line }]
    const file = follow(source ?? '', `commands.${name}`, line, files, notes)
    return file?.kind === 'file' ? [{ path: file.path, namespace: [], fileName: name, entry, line }] : []
  })
  // Commands with inline text are loaded last.
  return [
    ...found.filter(({ text }) => text === undefined),
    ...found.filter(({ text }) => text !== undefined),
  ]
}

function commandsIn(top: string, files: PluginFiles, notes: Notes): CommandSource[] {
  const paths = markdownTree(top, files, notes, (names) => names.find((name) => isSkillFile(name)))
  // Directory by directory, in the order in which each is met first.
  return [...Map.groupBy(paths, dirname).values()].flat().map((path) => commandSource(top, path))
}

/** A SKILL.md takes the name of its directory, and nothing else there is a command. */
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

function stem(path: string): string {
  return basename(path).replace(/\.md$/, '')
}

/** The text of a command, from its file or the manifest; null when it cannot be read. */
export function commandText({ path, text }: CommandSource, files: PluginFiles): PluginFileText | null {
  return text === undefined ? files.read(path) : { path, text, hasMark: false, hadReturns: false }
}
