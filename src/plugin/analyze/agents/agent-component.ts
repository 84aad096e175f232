import { componentId } from '../../component-list.ts'
import { cliName } from '../component-names.ts'
import type { AgentComponent } from '../contract.ts'
import { nameField, textField, toolsField } from '../frontmatter/fields.ts'
import { type Markdown, noteFrontmatter } from '../frontmatter/read-markdown.ts'
import { noteTools } from '../note-component.ts'
import type { Notes } from '../notes.ts'
import type { AgentSource } from './discover-agents.ts'
import { parseExamples } from './parse-examples.ts'

/** Keys that Claude Code honours in an agent of a user or a project, but not in one of a plugin. */
const ignoredKeys = ['hooks', 'mcpServers', 'permissionMode']

export function agentComponent(
  { namespace, fileName }: AgentSource,
  markdown: Markdown,
  plugin: string,
  nameOf: (...wanted: readonly [string, ...string[]]) => string,
  notes: Notes,
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
    examples: examplesOf(name, markdown, description, notes),
  }
  noteFrontmatter(markdown, 'agent', name, notes)
  noteTools('agent', component, component.tools, markdown.lineOf('tools'), notes)
  noteTools(
    'agent',
    component,
    toolsField(fields, 'disallowedTools'),
    markdown.lineOf('disallowedTools'),
    notes,
  )
  const about = { components: [componentId('agent', name)], path }
  if (markdown.description === null)
    notes.add('DESCRIPTION_MISSING', {
      message: `the agent has no description; Claude Code lists it for its model only as "Agent from ${plugin} plugin"`,
      suggestion: 'Say in the frontmatter what it does and when to use it.',
      ...about,
      line: 1,
    })
  for (const key of ignoredKeys.filter((each) => fields[each] !== undefined))
    notes.add('FIELD_IGNORED', {
      message: `Claude Code ignores ${key} in an agent of a plugin`,
      suggestion:
        key === 'permissionMode' ? 'Remove it.' : `Remove it, or declare ${key} for the whole plugin.`,
      ...about,
      line: markdown.lineOf(key),
    })
  return component
}

/** Of the description and of the body: authors put them in either. */
function examplesOf(
  name: string,
  { body, bodyLine, lineOf, path, description }: Markdown,
  shown: string,
  notes: Notes,
): AgentComponent['examples'] {
  const shownExamples = parseExamples(shown)
  const written = description === null ? null : parseExamples(body)
  const lines = [
    ...shownExamples.withoutUser.map((line) =>
      description === null ? bodyLine + line - 1 : lineOf('description'),
    ),
    ...(written?.withoutUser ?? []).map((line) => bodyLine + line - 1),
  ]
  for (const [index, line] of lines.entries())
    notes.add('EXAMPLE_WITHOUT_USER', {
      message: `an <example> block without a user line is ignored (number ${index + 1} of its kind)`,
      suggestion: 'Begin a line of the block with user: and the text of the user.',
      components: [componentId('agent', name)],
      path,
      line,
    })
  return [...shownExamples.examples, ...(written?.examples ?? [])]
}
