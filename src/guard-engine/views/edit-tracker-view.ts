import type { History } from '../contract.ts'
import { editCounts } from '../history/edits.ts'
import type { Settings } from '../settings/settings.ts'

/** `edit-tracker.json` in its documented shape: edits by path, with every unusual character written as `_`. */
export function editTrackerView(
  { edits }: History,
  { loopDetection }: Settings,
): Readonly<Record<string, number>> {
  const counts = editCounts(edits, loopDetection)
  // One look at all of them: most projects have only usual names, and then the view is what was counted.
  if (!unusual.test(Object.keys(counts).join(''))) return counts
  const view: Record<string, number> = {}
  for (const [path, count] of Object.entries(counts)) {
    const key = path.replaceAll(allUnusual, '_')
    view[key] = (view[key] ?? 0) + count
  }
  return view
}

const unusual = /[^A-Za-z0-9._/-]/
const allUnusual = /[^A-Za-z0-9._/-]/g
