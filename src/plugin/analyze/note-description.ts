import { componentId } from '../component-list.ts'
import type { ComponentType } from '../contract.ts'
import type { Markdown } from './frontmatter/read-markdown.ts'
import { longestListed } from './listing.ts'
import type { Notes } from './notes.ts'

/** Says so when the model gets no description of a skill or a command, or only its beginning. */
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
      message: `the ${type} has no description, so that Claude Code never tells its model about it`,
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
