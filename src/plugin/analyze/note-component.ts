import { nearest } from '../../core/nearest.ts'
import { componentId } from '../component-list.ts'
import type { ComponentType } from '../contract.ts'
import type { Markdown } from './frontmatter/read-markdown.ts'
import { isServerTool, knownTools } from './known-tools.ts'
import { longestListed } from './listed-text.ts'
import type { Notes } from './notes.ts'

/** Reports a skill or command whose description is missing, or too long to be shown in full. */
export function noteDescription(
  type: ComponentType,
  component: { readonly name: string; readonly path: string; readonly disable_model_invocation: boolean },
  listed: string | null,
  markdown: Pick<Markdown, 'lineOf' | 'description'>,
  notes: Notes,
): void {
  const about = { components: [componentId(type, component.name)], path: component.path }
  if (listed === null && markdown.description === null)
    notes.add('DESCRIPTION_MISSING', {
      message: `the ${type} has no description, so Claude Code never lists it for its model`,
      suggestion: 'Say in the frontmatter what it does and when to use it.',
      ...(component.disable_model_invocation && { severity: 'info' }),
      ...about,
      line: 1,
    })
  if (listed !== null && listed.length > longestListed)
    notes.add('DESCRIPTION_TOO_LONG', {
      message: `the model sees the first ${longestListed} of ${listed.length} characters of the description`,
      suggestion: 'Put what it does and when to use it first, and the rest into the body.',
      ...about,
      line: markdown.lineOf('description'),
      detail: { characters: listed.length, limit: longestListed },
    })
}

/** Reports a component that Claude Code calls by another name than its author. */
export function noteName(
  type: ComponentType,
  { name, path, cli_name: cli }: { readonly name: string; readonly path: string; readonly cli_name: string },
  written: string,
  called: string,
  line: number,
  notes: Notes,
): void {
  if (written === called) return
  notes.add('NAME_NOT_USED', {
    message: `its author calls it '${written}', but Claude Code calls it ${cli}`,
    suggestion: 'Give it one name: letters, digits, _ and -, the same in its path and in its frontmatter.',
    components: [componentId(type, name)],
    path,
    line,
  })
}

/** Reports tools that Claude Code does not have. `Bash(git *)` is a rule about Bash. */
export function noteTools(
  type: ComponentType,
  { name, path }: { readonly name: string; readonly path: string },
  tools: readonly string[],
  line: number,
  notes: Notes,
): void {
  for (const written of tools) {
    const tool = written.replace(/\(.*$/s, '').trim()
    if (tool === '' || tool === '*' || isServerTool(tool) || knownTools.includes(tool)) continue
    const near = nearest(tool, knownTools)
    notes.add('UNKNOWN_TOOL', {
      message: `Claude Code has no tool '${tool}'`,
      suggestion:
        near === undefined
          ? 'Remove it; a tool of a server has a name such as mcp__server__tool.'
          : `Did you mean '${near}'?`,
      components: [componentId(type, name)],
      path,
      line,
    })
  }
}
