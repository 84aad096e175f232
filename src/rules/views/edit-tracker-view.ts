import type { History, Settings } from '../contract.ts'
import { editCounts } from '../history/edits.ts'

/** `edit-tracker.json` in its documented shape: edits by path, with every unusual character written as `_`. */
export function editTrackerView(
  { edits }: History,
  { loopDetection }: Settings,
): Readonly<Record<string, number>> {
  const view: Record<string, number> = {}
  for (const [path, count] of Object.entries(editCounts(edits, loopDetection))) {
    const key = path.replaceAll(/[^A-Za-z0-9._/-]/g, '_')
    view[key] = (view[key] ?? 0) + count
  }
  return view
}
