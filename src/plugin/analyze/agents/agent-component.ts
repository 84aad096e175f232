import { counted } from '../../../core/counted.ts'
import { type ComponentNames, cliName } from '../component-names.ts'
import type { AgentComponent, AgentExample } from '../contract.ts'
import { markdownTree, stem } from '../files/markdown-tree.ts'
import {
  type Markdown,
  nameField,
  noteFrontmatter,
  textField,
  toolsField,
} from '../frontmatter/read-markdown.ts'
import { declaredPaths, noteIgnoredDirectory } from '../manifest/declared-paths.ts'
import type { PluginSource } from '../manifest/read-manifest.ts'
import { noteComponentTools } from '../note-component.ts'
import { about, type Notes } from '../notes.ts'
import { triggerFields } from '../trigger-phrases.ts'

/** Keys that Claude Code honours in an agent of a user or a project, but not in one of a plugin. */
const ignoredKeys = ['hooks', 'mcpServers', 'permissionMode']

export function agentComponent(
  { namespace, fileName }: AgentSource,
  markdown: Markdown,
  { name: plugin, notes }: PluginSource,
  nameOf: ComponentNames,
): AgentComponent {
  const { fields, body, path } = markdown
  const given = nameField(fields)
  const called = given ?? fileName
  const own = [...namespace, fileName].join('/')
  const name = given === null ? nameOf(own) : nameOf([...namespace, given].join('/'), own)
  const description = markdown.description ?? body.trim()
  const component: AgentComponent = {
    name,
    cli_name: cliName(plugin, [...namespace, called]),
    plugin,
    path,
    line: markdown.lineOf('description'),
    description,
    model: textField(fields, 'model') ?? 'inherit',
    tools: toolsField(fields, 'tools'),
    examples: [
      ...examplesOf(name, markdown, description, notes),
      ...(markdown.description === null ? [] : phraseExamples(description)),
    ],
  }
  noteFrontmatter(markdown, 'agent', name, notes)
  noteComponentTools('agent', name, 'tools', markdown, notes)
  noteComponentTools('agent', name, 'disallowedTools', markdown, notes)
  if (markdown.description === null)
    notes.add('DESCRIPTION_MISSING', {
      message: `the agent has no description; Claude Code lists it for its model only as "Agent from ${plugin} plugin"`,
      ...about('agent', { name, path, line: 1 }),
    })
  for (const key of ignoredKeys.filter((each) => fields[each] !== undefined))
    notes.add('FIELD_IGNORED', {
      message: `Claude Code ignores ${key} in an agent of a plugin`,
      suggestion:
        key === 'permissionMode' ? 'Remove it.' : `Remove it, or declare ${key} for the whole plugin.`,
      ...about('agent', { name, path, line: markdown.lineOf(key) }),
    })
  return component
}

/** Of the description and of the body: authors put them in either. */
function examplesOf(
  name: string,
  { body, lineOf, path, description }: Markdown,
  shown: string,
  notes: Notes,
): AgentComponent['examples'] {
  const { examples, withoutUser } = parseExamples(shown)
  // Without a description the body is shown. It is for the agent itself: an example there may be about anything.
  if (description === null) return examples
  if (withoutUser > 0)
    notes.add('EXAMPLE_WITHOUT_USER', {
      message: `no scenario is made of ${counted(withoutUser, '<example> block')} of the description: no line says what a user writes`,
      ...about('agent', { name, path, line: lineOf('description') }),
    })
  return [...examples, ...parseExamples(body).examples]
}

/** What users say, or must not have said, according to the text outside of the examples. */
function phraseExamples(description: string): readonly AgentExample[] {
  const prose = description.replaceAll(/<example>.*?(?:<\/example>|$)/gis, ' ')
  const { triggers, negative_triggers = [] } = triggerFields(prose, { isCuedOnly: true })
  const example = (phrase: string): AgentExample => ({
    context: '',
    user_message: phrase,
    expected_response: '',
    commentary: '',
  })
  return [
    ...triggers.map(example),
    ...negative_triggers.map((phrase) => ({ ...example(phrase), is_negative: true as const })),
  ]
}

/** Every `<example>` block of a text. Never throws, and looks at each character a bounded number of times. */
export function parseExamples(given: string) {
  // In an unquoted one-line YAML value, a line break is the two characters `\n`.
  const text = given.includes('\n') ? given : given.replaceAll('\\n', '\n')
  const examples: AgentExample[] = []
  /** The number of blocks without a user line. */
  let withoutUser = 0
  for (const block of blocksOf(text)) {
    const example = fromPattern(block) ?? exampleFromLines(block)
    if (example.user_message === '') withoutUser += 1
    else examples.push(isNegative(example) ? { ...example, is_negative: true } : example)
  }
  return { examples, withoutUser }
}

/** The author says not to use the agent, and the answer of the example does not use it. */
function isNegative({ context, commentary, expected_response: answer }: AgentExample): boolean {
  return notUsed.test(`${context} ${commentary}`) && !/\b(?:use|launch|invoke|call|delegate)\b/i.test(answer)
}

const notUsed =
  /\b(?:(?:do|does|should|must) ?n[o’']t|never|no need to) (?:be )?(?:us(?:e|ed)|trigger(?:ed)?|invoked?|launch(?:ed)?|called?|delegated?)\b/i

const opening = '<example>'
const closing = '</example>'
/** An example is a few lines; a longer block is most likely never closed. */
const mostCharacters = 10_000

function* blocksOf(text: string): Generator<string> {
  const lower = text.toLowerCase()
  for (let at = lower.indexOf(opening); at !== -1; ) {
    const from = at + opening.length
    const next = lower.indexOf(opening, from)
    const within = next === -1 ? lower.length : next
    const closed = lower.slice(from, Math.min(within, from + mostCharacters)).indexOf(closing)
    const end = closed === -1 ? Math.min(within, from + mostCharacters) : from + closed
    yield text.slice(from, end)
    at = next
  }
}

/** The form Claude Code itself writes: context, a quoted user line, an assistant line, perhaps a commentary. */
function fromPattern(block: string): AgentExample | null {
  const found = usual.exec(oneLine(block))?.groups
  return found === undefined ? null : exampleOf((part) => oneLine(found[part] ?? ''))
}

function exampleOf(textOf: (part: Part) => string): AgentExample {
  return {
    context: textOf('context'),
    user_message: textOf('user_message'),
    expected_response: textOf('expected_response'),
    commentary: textOf('commentary'),
  }
}

const usual =
  /^\s*(?:context:(?<context>[^"<]*?)\s)?\s*user:\s*"(?<user_message>[^"]+)"\s*assistant:\s*"(?<expected_response>[^"]*)"\s*(?:<commentary>(?<commentary>[^<]*)<\/commentary>)?\s*$/i

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

type Part = Exclude<keyof AgentExample, 'is_negative'>

const partOf: Readonly<Record<string, Part>> = {
  context: 'context',
  user: 'user_message',
  human: 'user_message',
  assistant: 'expected_response',
  commentary: 'commentary',
}

/** Line by line, for blocks in an unusual form: a label begins a part, which ends at the next label. */
function exampleFromLines(block: string): AgentExample {
  const parts = new Map<Part, string[]>()
  let part: Part | null = null
  for (const line of block.split('\n')) {
    const { label, rest } = readLine(line)
    if (label !== null) {
      part = label
      // Only the first turn of each: an example shows when to start.
      if (parts.has(part)) part = null
      else parts.set(part, [])
    }
    if (part !== null) parts.get(part)?.push(rest)
  }
  return exampleOf((wanted) => unquoted((parts.get(wanted) ?? []).join(' ')))
}

/** Some authors give the user a name: `Daisy: "Please check this."`. */
const byName =
  /^\s*[*_]{0,2}(?!context|assistant|commentary)\p{Lu}[\p{L} ]{0,30}[*_]{0,2}\s*:[*_]{0,2}\s*(["'“].*)$/iu

function readLine(line: string): { readonly label: Part | null; readonly rest: string } {
  const named = /^\s*[*_]{0,2}(context|user|human|assistant|commentary)[*_]{0,2}\s*:[*_]{0,2}(.*)$/i.exec(
    line,
  )
  const person = named === null ? byName.exec(line)?.[1] : undefined
  if (person !== undefined) return { label: 'user_message', rest: person }
  const tagged = named ?? /^\s*<(commentary|user|assistant|context)>(.*)$/i.exec(line)
  const label = partOf[(tagged?.[1] ?? '').toLowerCase()] ?? null
  return { label, rest: (tagged?.[2] ?? line).replaceAll(/<\/?(?:commentary|user|assistant|context)>/gi, '') }
}

function unquoted(text: string): string {
  const plain = oneLine(text)
  const inside = /^"(.*)"$|^'(.*)'$|^“(.*)”$/.exec(plain)
  return (inside?.[1] ?? inside?.[2] ?? inside?.[3] ?? plain).trim()
}

interface AgentSource {
  readonly path: string
  /** Directories below `agents/`. */
  readonly namespace: readonly string[]
  /** Without its extension. */
  readonly fileName: string
}

const standard = 'agents'

/** Every Markdown file below `agents/`, or only those the manifest names, if it names any. */
export function discoverAgents(plugin: PluginSource): readonly AgentSource[] {
  const declared = declaredPaths('agents', plugin)
  if (declared === null) return markdownTree(standard, plugin).map(agentSource)
  const named = declared.paths
    .filter(({ kind }) => kind === 'file')
    .map(({ path }) => ({ path, namespace: [], fileName: stem(path) }))
  const paths = named.map(({ path }) => path)
  noteIgnoredDirectory(standard, paths, 'agents', plugin)
  return named
}

function agentSource(path: string): AgentSource {
  return { path, namespace: path.split('/').slice(1, -1), fileName: stem(path) }
}
