import { asString } from '../../../core/json-fields.ts'
import { componentId } from '../../component-list.ts'
import { cliName, skillName } from '../component-names.ts'
import type { SkillComponent } from '../contract.ts'
import { flagField, nameField, toolsField } from '../frontmatter/fields.ts'
import { bodyStart, type Markdown, noteFrontmatter } from '../frontmatter/read-markdown.ts'
import { aliasOf, listedText } from '../listed-text.ts'
import { noteDescription } from '../note-description.ts'
import { noteName } from '../note-name.ts'
import { noteTools } from '../note-tools.ts'
import type { Notes } from '../notes.ts'
import type { SkillSource } from './discover-skills.ts'
import { intentOf } from './intent-of.ts'
import { triggerPhrases } from './trigger-phrases.ts'

export interface FoundSkill {
  readonly component: SkillComponent
  /** What the model is told about it; null when it is told nothing. */
  readonly listed: string | null
  readonly alias: string | null
}

export function skillComponent(
  source: SkillSource,
  markdown: Markdown,
  plugin: string,
  nameOf: (...wanted: readonly [string, ...string[]]) => string,
  notes: Notes,
): FoundSkill {
  const { fields, body, path } = markdown
  const given = nameField(fields)
  const own = source.isSingle ? asString(fields.name)?.trim() : undefined
  const called = skillName(own === undefined || own === '' ? source.directory : own)
  const name = given === null ? nameOf(source.directory) : nameOf(given, source.directory)
  const listed = listedText(fields, body)
  const description = markdown.description ?? bodyStart(body)
  const triggers = triggerPhrases(description)
  const component: SkillComponent = {
    name,
    cli_name: cliName(plugin, [called]),
    plugin,
    path,
    line: markdown.lineOf('description'),
    description,
    triggers,
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
      components: [componentId('skill', name)],
      path,
      line: markdown.lineOf('disable-model-invocation'),
    })
  noteName('skill', component, given ?? source.directory, called, markdown.lineOf('name'), notes)
  noteDescription('skill', component, listed, markdown, notes)
  noteTools('skill', component, component.allowed_tools, markdown.lineOf('allowed-tools'), notes)
  return {
    component,
    listed: component.disable_model_invocation ? null : listed,
    alias: aliasOf(fields, component.cli_name),
  }
}
