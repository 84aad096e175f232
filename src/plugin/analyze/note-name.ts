import { componentId } from '../component-list.ts'
import type { ComponentType } from '../contract.ts'
import type { Notes } from './notes.ts'

/** Says so when Claude Code calls a component otherwise than its author does. */
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
    message: `it is written '${written}', and Claude Code calls it ${cli}`,
    suggestion: 'Give it one name: letters, digits, _ and -, the same in its path and in its frontmatter.',
    components: [componentId(type, name)],
    path,
    line,
  })
}
