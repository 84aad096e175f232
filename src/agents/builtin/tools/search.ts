import { setImmediate as breathe } from 'node:timers/promises'
import picomatch from 'picomatch'
import { z } from 'zod'
import { compilePattern, type Pattern } from '../../../core/pattern.ts'
import { shorten } from '../../../core/shorten.ts'
import { readTextInside } from '../../../io/files.ts'
import { resolveInside } from '../../../io/resolve-inside.ts'
import type { Tool } from '../../../models/contract.ts'
import { whyUnreadable } from '../../why-unreadable.ts'
import { defineTool, refused, type ToolPlace } from './define-tool.ts'
import { filesBelow, workspacePath } from './files-below.ts'

const maxMatches = 200
const maxLineChars = 300
const maxFileBytes = 2 * 1024 * 1024

export function searchTool({ workspace }: ToolPlace): Tool {
  return defineTool({
    name: 'search',
    description:
      'Searches the files of the workspace that git does not ignore, line by line, for a regular expression in RE2 syntax (no lookaround, no backreferences). Answers path:line: text.',
    input: z.object({
      pattern: z.string().min(1).describe('(?i) in front ignores case.'),
      path: z
        .string()
        .min(1)
        .default('.')
        .describe('Directory or file to search, relative to the workspace.'),
      glob: z.string().min(1).optional().describe('Only files whose path fits, such as **/*.ts or *.md.'),
    }),
    run: async ({ pattern: source, path, glob }, signal) => {
      const compiled = compilePattern(source)
      if (compiled.kind === 'bad')
        return refused([`The pattern is wrong: ${compiled.message}.`, compiled.hint ?? ''].join(' ').trim())
      const where = resolveInside(workspace, workspacePath(workspace, path))
      if (where.kind !== 'inside') return refused(whyUnreadable(path, where))
      const fits =
        glob === undefined ? () => true : picomatch(glob, { dot: true, basename: !glob.includes('/') })
      const found: string[] = []
      for (const file of await filesBelow(workspace, where.path)) {
        if (!fits(file)) continue
        signal.throwIfAborted()
        // Searching is synchronous; yield to timers and other agents.
        await breathe()
        found.push(...matchesIn(workspace, file, compiled.pattern, maxMatches + 1 - found.length))
        if (found.length > maxMatches)
          return { output: `${found.slice(0, maxMatches).join('\n')}\n[more matches: narrow the search]` }
      }
      return { output: found.length === 0 ? 'No match.' : found.join('\n') }
    },
  })
}

function matchesIn(workspace: string, path: string, pattern: Pattern, limit: number): string[] {
  const file = readTextInside(workspace, path, { maxBytes: maxFileBytes })
  if (file.kind !== 'text' || file.text.includes('\0')) return []
  const found: string[] = []
  for (const [index, line] of file.text.split(/\r?\n/).entries()) {
    if (found.length === limit) break
    if (!pattern.test(line)) continue
    const shown = shorten(line, maxLineChars)
    found.push(`${path}:${index + 1}: ${shown}`)
  }
  return found
}
