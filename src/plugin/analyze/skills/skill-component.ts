import { asString } from '../../../core/json-fields.ts'
import { componentId } from '../../component-list.ts'
import { cliName, skillName } from '../component-names.ts'
import type { SkillComponent, SkillIntent } from '../contract.ts'
import { flagField, nameField, toolsField } from '../frontmatter/fields.ts'
import { bodyStart, type Markdown, noteFrontmatter } from '../frontmatter/read-markdown.ts'
import { aliasOf, listedText } from '../listed-text.ts'
import { noteDescription, noteName, noteTools } from '../note-component.ts'
import type { Notes } from '../notes.ts'
import type { SkillSource } from './discover-skills.ts'

export interface FoundSkill {
  readonly component: SkillComponent
  /** Its text in the listing for the model; null when it is not listed. */
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

/**
 * Phrases that should make a skill fire, in the order of its description: what is quoted after words such as "asks to", and any
 * other quoted text that a user could type.
 */
export function triggerPhrases(description: string): readonly string[] {
  const text = description.replaceAll(/\s+/g, ' ')
  const found = new Set<string>()
  let end = 0
  let isCued = false
  for (const match of text.matchAll(quotedText)) {
    const phrase = (match[1] ?? match[2] ?? match[3] ?? '').trim()
    const before = text.slice(end, match.index)
    isCued =
      cue.test(before.slice(-cueCharacters)) ||
      (isCued && before.length <= cueCharacters && betweenQuotes.test(before))
    end = match.index + match[0].length
    if (phrase !== '' && (isCued || couldBeSaid(phrase))) found.add(phrase)
  }
  return [...found]
}

/** A single quote next to a letter is an apostrophe. */
const quotedText = /"([^"]{1,200})"|“([^”]{1,200})”|(?<![\p{L}\p{N}])'([^']{1,200})'(?![\p{L}\p{N}])/gu
const cue =
  /\b(?:(?:asks?|needs?|wants?) to|mentions?|says?)[\s:,(]*(?:something like|e\.g\.|things like)?[\s:,(]*$/i
const cueCharacters = 60
const betweenQuotes = /^[\s,;/]*(?:or|and)?[\s,;/]*$/i

function couldBeSaid(phrase: string): boolean {
  return phrase.length >= 3 && phrase.length <= 50 && /^\p{L}/u.test(phrase)
}

const actions = new Set(
  'create add build make set configure implement define write generate develop update modify change fix debug'.split(
    ' ',
  ),
)
const beginsContext = new Set(['for', 'to', 'in', 'with'])
/** Articles, and prepositions that begin no context. */
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
