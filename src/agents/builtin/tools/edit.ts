import { z } from 'zod'
import { writeTextInside } from '../../../io/change-inside.ts'
import type { Tool } from '../../../models/contract.ts'
import { defineTool, refused, type ToolPlace } from './define-tool.ts'
import { readFile, workspacePath } from './files-below.ts'

export function editTool({ workspace }: ToolPlace): Tool {
  return defineTool({
    name: 'edit',
    description:
      'Replaces a text in a file of the workspace. The old text must be in the file exactly once, white space included: give enough lines around it.',
    input: z.object({
      path: z.string().min(1).describe('Relative to the workspace.'),
      old: z.string().min(1).describe('The text as it is now, without line numbers.'),
      new: z.string().describe('The text that takes its place.'),
      all: z.boolean().default(false).describe('Replaces it wherever it occurs.'),
    }),
    run: ({ path, old, new: replacement, all }) => {
      const file = readFile(workspace, path)
      if (file.kind === 'unreadable') return refused(file.problem)
      const count = file.text.split(old).length - 1
      if (count === 0) return refused(`The text is not in ${path}. ${hintFor(file.text, old)}`)
      if (count > 1 && !all)
        return refused(`The text is in ${path} ${count} times: give more of what is around it, or set all.`)
      const text = file.text.replaceAll(old, () => replacement)
      const change = writeTextInside(workspace, workspacePath(workspace, path), text)
      if (change.kind === 'refused') return refused(`Not written: ${change.reason}.`)
      return { output: `Edited ${path}${count > 1 ? ` at ${count} places` : ''}.` }
    },
  })
}

function hintFor(text: string, old: string): string {
  if (text.includes('\r\n') && old.includes('\n') && text.replaceAll('\r\n', '\n').includes(old))
    return 'Its lines end in CRLF: edit one line at a time, or write \\r\\n.'
  const squeezed = (value: string): string => value.replaceAll(/\s+/g, ' ').trim()
  return squeezed(text).includes(squeezed(old))
    ? 'It differs in white space: read the file again.'
    : 'Read the file again.'
}
