import { basename, isAbsolute, relative } from 'node:path'
import type { HookEvent } from '../core/hook-event.ts'
import { editCounts } from '../guard-engine/history/edits.ts'
import { printable } from '../guard-engine/printable.ts'
import { callPaths } from '../guard-engine/store-event.ts'
import type { Rule } from './contract.ts'

const maxPathChars = 300
const planFile = 'IMPLEMENTATION_PLAN.md'

/**
 * The documented threshold: from there on every further edit of the file is answered with a warning. Green tests in
 * between are progress, so the warnings wait until the threshold is reached anew; the count itself goes on.
 */
export const countEdits: Rule = {
  name: 'count-edits',
  on: ['tool_after'],
  // Whether an edit of the plan begins a new task is seen in the plan.
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
    const counts = editCounts(history.edits, settings.loopDetection)
    const sinceGreen = history.edits.sinceGreen ?? {}
    const hot = editedPaths(event).filter(
      (path) => Math.min(counts[path] ?? 0, sinceGreen[path] ?? 0) >= threshold,
    )
    if (hot.length === 0) return null
    const files = hot.map((path) => `${shown(path, event.root)} (${counts[path] ?? 0} edits)`)
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

/** Edits by tools that edit: a failed one changed nothing, and what a shell command writes is not counted here. */
function editedPaths(event: HookEvent): readonly string[] {
  if (event.kind !== 'tool_after' || event.outcome.kind === 'failure') return []
  const { kind } = event.call.action
  return kind === 'write' || kind === 'edit' || kind === 'patch' ? callPaths(event.call, event.cwd) : []
}

function shown(path: string, root: string): string {
  const inside = relative(root, path)
  const name = inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside
  return printable(name, maxPathChars)
}
