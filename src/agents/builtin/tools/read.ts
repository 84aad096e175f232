import { z } from 'zod'
import type { Tool } from '../../../models/contract.ts'
import { defineTool, refused, type ToolPlace } from './define-tool.ts'
import { readFile } from './files-below.ts'

const maxLines = 2_000
const maxLineChars = 2_000
const maxChars = 100_000

export function readTool({ workspace }: ToolPlace): Tool {
  return defineTool({
    name: 'read',
    description: `Reads a text file of the workspace, every line behind its number. At most ${maxLines} lines at once: go on with offset.`,
    input: z.object({
      path: z.string().min(1).describe('Relative to the workspace.'),
      offset: z.int().min(1).default(1).describe('First line, from 1.'),
      limit: z.int().min(1).max(maxLines).default(maxLines).describe('Number of lines.'),
    }),
    run: ({ path, offset, limit }) => {
      const file = readFile(workspace, path)
      if (file.kind === 'unreadable') return refused(file.problem)
      if (file.text === '') return { output: `${path} is empty.` }
      const lines = linesOf(file.text)
      if (offset > lines.length) return refused(`${path} has only ${lines.length} lines.`)
      const shown = numbered(lines, offset, limit)
      const next = offset + shown.length
      const rest =
        next > lines.length ? '' : `\n[${lines.length - next + 1} more lines: go on with offset ${next}]`
      return { output: shown.join('\n') + rest }
    },
  })
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** As many lines as fit, but at least one. */
function numbered(lines: readonly string[], offset: number, limit: number): string[] {
  const shown: string[] = []
  let chars = 0
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const cut = line.length > maxLineChars ? `${line.slice(0, maxLineChars)} [line cut]` : line
    const text = `${String(offset + index).padStart(6)}\t${cut}`
    chars += text.length + 1
    if (chars > maxChars && shown.length > 0) break
    shown.push(text)
  }
  return shown
}
