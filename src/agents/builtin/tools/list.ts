import { z } from 'zod'
import { listDirectory, showPath } from '../../../io/list-directory.ts'
import { isDirectory } from '../../../io/path-kind.ts'
import { resolveInside } from '../../../io/resolve-inside.ts'
import type { Tool, ToolResult } from '../../../models/contract.ts'
import { whyUnreadable } from '../../why-unreadable.ts'
import { defineTool, refused, type ToolPlace } from './define-tool.ts'
import { filesBelow, workspacePath } from './files-below.ts'

const maxEntries = 1_000

export function listTool({ workspace }: ToolPlace): Tool {
  return defineTool({
    name: 'list',
    description:
      'Lists a directory of the workspace; directories end in a slash. With recursive: all files below it that git does not ignore.',
    input: z.object({
      path: z.string().min(1).default('.').describe('Relative to the workspace.'),
      recursive: z.boolean().default(false),
    }),
    run: async ({ path, recursive }) => {
      const where = resolveInside(workspace, workspacePath(workspace, path))
      if (where.kind !== 'inside') return refused(whyUnreadable(path, where))
      if (!isDirectory(where.path)) return refused(`${path} is not a directory.`)
      return listing(recursive ? await filesBelow(workspace, where.path) : entriesOf(where.path))
    },
  })
}

function entriesOf(directory: string): string[] {
  return listDirectory(directory)
    .map((entry) => `${showPath(entry.name)}${entry.isDirectory() ? '/' : ''}`)
    .sort()
}

function listing(entries: readonly string[]): ToolResult {
  if (entries.length === 0) return { output: 'It is empty.' }
  const shown = entries.slice(0, maxEntries)
  const rest = entries.length - shown.length
  return { output: shown.join('\n') + (rest > 0 ? `\n[${rest} more]` : '') }
}
