import { nearest } from '../../core/nearest.ts'
import { componentId } from '../component-list.ts'
import type { ComponentType } from '../contract.ts'
import { isServerTool, knownTools } from './known-tools.ts'
import type { Notes } from './notes.ts'

/** Says so when a component names a tool that is not there. `Bash(git *)` is a rule about Bash. */
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
