import { basename, dirname } from 'node:path'
import { asString } from '../../../core/json-fields.ts'
import { type ComponentNames, cliName, skillName } from '../component-names.ts'
import type { SkillComponent, SkillIntent } from '../contract.ts'
import { below, byCollation } from '../files/plugin-files.ts'
import {
  bodyStart,
  flagField,
  type Markdown,
  nameField,
  noteFrontmatter,
  readMarkdown,
  toolsField,
} from '../frontmatter/read-markdown.ts'
import { declaredPaths } from '../manifest/declared-paths.ts'
import { manifestFile, type PluginSource } from '../manifest/read-manifest.ts'
import { type Invocable, invocable, listedText } from '../note-component.ts'
import { about } from '../notes.ts'
import { triggerFields } from '../trigger-phrases.ts'

export function skillComponent(
  source: SkillSource,
  markdown: Markdown,
  { name: plugin, notes }: PluginSource,
  nameOf: ComponentNames,
): Invocable<SkillComponent> {
  const { fields, body, path } = markdown
  const given = nameField(fields)
  const own = source.isSingle ? asString(fields.name)?.trim() : undefined
  const called = skillName(own === undefined || own === '' ? source.directory : own)
  const name = given === null ? nameOf(source.directory) : nameOf(given, source.directory)
  const listed = listedText(fields, body)
  const description = markdown.description ?? bodyStart(body)
  const { triggers, ...excluded } = triggerFields(listed ?? description)
  const component: SkillComponent = {
    name,
    cli_name: cliName(plugin, [called]),
    plugin,
    path,
    line: markdown.lineOf('description'),
    description,
    triggers,
    ...excluded,
    intents: triggers.map(intentOf),
    allowed_tools: toolsField(fields, 'allowed-tools'),
    disable_model_invocation: flagField(fields, 'disable-model-invocation') ?? false,
    user_invocable: flagField(fields, 'user-invocable') ?? true,
  }
  noteFrontmatter(markdown, 'skill', name, notes)
  if (component.disable_model_invocation && !component.user_invocable)
    notes.add('NOT_INVOCABLE', {
      message: 'neither people nor the model may use the skill',
      ...about('skill', { name, path, line: markdown.lineOf('disable-model-invocation') }),
    })
  const names = { written: given ?? source.directory, called }
  return invocable('skill', component, markdown, { ...names, listed }, notes)
}

const actions = new Set(
  'create add build make set configure implement define write generate develop update modify change fix debug'.split(
    ' ',
  ),
)
const beginsContext = new Set(['for', 'to', 'in', 'with'])
/** Articles, and prepositions that do not begin a context. */
const small = new Set(
  'a an the this that my your our its on at of from by into up out over about as'.split(' '),
)

/** Splits a phrase into action, object and context, by fixed lists of words. */
export function intentOf(phrase: string): SkillIntent {
  const words = phrase.split(/\s+/).filter((word) => word !== '')
  const plain = words.map((word) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}_-]/gu, ''))
  const found = plain.findIndex((word) => actions.has(word))
  const at = Math.max(found, 0)
  const contextAt = plain.findIndex((word, index) => index > at && beginsContext.has(word))
  const end = contextAt === -1 ? plain.length : contextAt
  return {
    action: plain[at] ?? '',
    object: plain
      .slice(at + 1, end)
      .filter((word) => word !== '' && !small.has(word))
      .slice(0, 2)
      .join(' '),
    context: contextAt === -1 ? '' : words.slice(contextAt).join(' '),
    raw_phrase: phrase,
  }
}

interface SkillSource {
  /** Of its SKILL.md. */
  readonly path: string
  readonly directory: string
  /** A directory that is itself one skill: its name is in the frontmatter. */
  readonly isSingle: boolean
}

/**
 * `skills/<name>/SKILL.md` and the paths of the manifest, in Claude Code's order. A SKILL.md at the root is used only when there
 * are no others.
 */
export function discoverSkills(plugin: PluginSource): readonly SkillSource[] {
  const { files, notes } = plugin
  const declared = declaredPaths('skills', plugin)
  const found = files.placeOf('skills') === 'directory' ? skillsIn('skills', plugin) : null
  if (declared === null && found === null)
    return files.placeOf('SKILL.md') === 'file' ? [singleSkill('', plugin)] : []
  const more = (declared?.paths ?? []).flatMap(({ path, kind, line }) => {
    if (kind === 'file') {
      notes.add('PATH_REFUSED', {
        message: `skills names the file ${path}; Claude Code expects a directory`,
        suggestion: `Name the directory: './${dirname(path)}'.`,
        path: manifestFile,
        line,
      })
      return []
    }
    return files.placeOf(fileIn(path)) === 'file' ? [singleSkill(path, plugin)] : skillsIn(path, plugin)
  })
  const all = [...(found ?? []), ...more]
  return all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index)
}

function singleSkill(path: string, { files }: PluginSource): SkillSource {
  return { path: fileIn(path), directory: basename(path === '' ? files.root : path), isSingle: true }
}

function skillsIn(parent: string, plugin: PluginSource): readonly SkillSource[] {
  const { files } = plugin
  const found: SkillSource[] = []
  for (const { name, kind } of files.list(parent)) {
    const path = below(parent, name)
    if (kind === 'file') {
      if (/\.md$/i.test(name) && !/^readme\./i.test(name)) noteFlat(path, plugin)
      continue
    }
    if (files.placeOf(path) !== 'directory') continue
    const place = files.placeOf(fileIn(path))
    if (place === 'missing') noteMisplaced(path, plugin)
    // Reading reports a directory or a pipe of that name.
    else if (place !== 'outside' && files.readComponent(fileIn(path)) !== null)
      found.push({ path: fileIn(path), directory: name, isSingle: false })
  }
  return found.sort((a, b) => byCollation(skillName(a.directory), skillName(b.directory)))
}

/** Only a file with a description is meant as a skill; others are notes for people. */
function noteFlat(path: string, { files, notes }: PluginSource): void {
  const file = files.read(path)
  if (file === null || readMarkdown(file).description === null) return
  notes.add('FILE_NOT_LOADED', {
    message: `${path} is not loaded: a skill is a directory with a SKILL.md`,
    suggestion: `Move it to ${path.replace(/\.md$/i, '')}/SKILL.md.`,
    path,
  })
}

/** A SKILL.md one level too deep, or in different case. */
function noteMisplaced(directory: string, { files, notes }: PluginSource): void {
  for (const { name, kind } of files.list(directory)) {
    const path = `${directory}/${name}`
    if (kind === 'file' && /^skill\.md$/i.test(name))
      notes.add('FILE_NOT_LOADED', {
        message: `${path} is not loaded: the file must be called SKILL.md`,
        suggestion: 'Rename it.',
        path,
      })
    if (kind === 'directory' && files.placeOf(fileIn(path)) === 'file')
      notes.add('FILE_NOT_LOADED', {
        message: `${fileIn(path)} is not loaded: skills are not nested`,
        suggestion: `Move the directory up, or name ./${directory} in the manifest under skills.`,
        path: fileIn(path),
      })
  }
}

function fileIn(directory: string): string {
  return below(directory, 'SKILL.md')
}
