import { basename, isAbsolute, relative } from 'node:path'
import type { HookEvent } from '../core/hook-event.ts'
import { editCount } from '../guard-engine/history/edits.ts'
import { printable } from '../guard-engine/printable.ts'
import { callPaths, isEditing } from '../guard-engine/store-event.ts'
import type { Rule } from './contract.ts'

const maxPathChars = 300
const planFile = 'IMPLEMENTATION_PLAN.md'

/**
 * From the threshold on, every further edit of the file gets a warning. Green tests count as progress: the next warning comes when the
 * threshold is reached again. The total count is not reset.
 */
export const countEdits: Rule = {
  name: 'count-edits',
  on: ['tool_after'],
  // The plan shows whether an edit of it starts a new task.
  wants: ({ event, settings }) =>
    settings.loopDetection.enabled &&
    settings.loopDetection.resetOnNewTask &&
    editedPaths(event).some((path) => basename(path) === planFile)
      ? ['project']
      : [],
  judge: ({ event, history, settings }) => {
    const { enabled, editThreshold } = settings.loopDetection
    if (!enabled) return null
    const threshold = Math.max(1, editThreshold)
    const counts = (path: string): number => {
      const file = history.edits.files[path]
      return file === undefined ? 0 : editCount(file, settings.loopDetection)
    }
    const hot = editedPaths(event).filter(
      (path) => Math.min(counts(path), history.edits.files[path]?.sinceGreen ?? 0) >= threshold,
    )
    if (hot.length === 0) return null
    const files = hot.map((path) => `${shown(path, event.root)} (${counts(path)} edits)`)
    return { context: warning(files, threshold) }
  },
}

function warning(files: readonly string[], threshold: number): string {
  return [
    `This looks like a loop: ${files.join(', ')} reached the threshold of ${threshold} edits, and no test run passed since. Stop and reconsider the approach:`,
    '- Read the error message again, from its beginning.',
    '- Change the strategy instead of adjusting the same file once more.',
    '- Look for the cause in another file.',
    '- Suspect a dependency or the configuration.',
  ].join('\n')
}

/** Edits by editing tools. Failed edits and writes of shell commands do not count. */
function editedPaths(event: HookEvent): readonly string[] {
  if (event.kind !== 'tool_after' || event.outcome.kind === 'failure') return []
  return isEditing(event.call.action.kind) ? callPaths(event.call, event.cwd) : []
}

function shown(path: string, root: string): string {
  const inside = relative(root, path)
  const name = inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside
  return printable(name, maxPathChars)
}
