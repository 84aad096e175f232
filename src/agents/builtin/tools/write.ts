import { z } from 'zod'
import { writeTextInside } from '../../../io/change-inside.ts'
import type { Tool } from '../../../models/contract.ts'
import { defineTool, refused, type ToolPlace } from './define-tool.ts'
import { workspacePath } from './files-below.ts'

export function writeTool({ workspace }: ToolPlace): Tool {
  return defineTool({
    name: 'write',
    description:
      'Writes a file of the workspace, with its directories; what was in it is lost. To change a part use edit.',
    input: z.object({
      path: z.string().min(1).describe('Relative to the workspace.'),
      content: z.string().describe('The whole content.'),
    }),
    run: ({ path, content }) => {
      const change = writeTextInside(workspace, workspacePath(workspace, path), content)
      if (change.kind === 'refused') return refused(`Not written: ${change.reason}.`)
      return { output: `Wrote ${Buffer.byteLength(content)} bytes to ${path}.` }
    },
  })
}
