import { asString } from '../../../core/json-fields.ts'
import { type ComponentNames, cliName, skillName } from '../component-names.ts'
import type { SkillComponent, SkillIntent } from '../contract.ts'
import { flagField, nameField, toolsField } from '../frontmatter/fields.ts'
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
import { about } from '../notes.ts'
import { triggerFields } from '../trigger-phrases.ts'
import type { SkillSource } from './discover-skills.ts'

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
      suggestion: 'Remove disable-model-invocation or user-invocable.',
      ...about('skill', { name, path, line: markdown.lineOf('disable-model-invocation') }),
    })
  noteComponentName('skill', component, given ?? source.directory, called, markdown.lineOf('name'), notes)
  noteComponentDescription('skill', component, listed, markdown, notes)
  noteComponentTools('skill', name, 'allowed-tools', markdown, notes)
  return {
    component,
    listed: component.disable_model_invocation ? null : listed,
    alias: aliasOf(fields, component.cli_name),
  }
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
