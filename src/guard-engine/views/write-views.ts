import { join } from 'node:path'
import { writeFileAtomic } from '../../io/files.ts'
import { isDirectory, isFile } from '../../io/path-kind.ts'
import { readHead } from '../../io/read-head.ts'
import type { Ledger } from '../ledger/open-ledger.ts'
import type { Settings } from '../settings/settings.ts'
import { editTrackerView } from './edit-tracker-view.ts'
import {
  ignoresItself,
  ignoreText,
  maxViewBytes,
  mayReplace,
  viewFiles,
  type WrittenView,
} from './own-view.ts'
import { stateView } from './state-view.ts'

export interface ViewRequest {
  readonly directory: string
  readonly ledger: Ledger
  readonly settings: Settings
  /** false when this event cannot have changed how often files were edited: with many files that is most of what is to write. */
  readonly mayCount: boolean
}

/** More processes than this do not append at once; if they did, the next event would write the views anew. */
const maxRounds = 100

/**
 * Writes `state.json` and `edit-tracker.json` without a lock. Whoever finds afterwards that the ledger has grown writes again,
 * so that the last one to write has seen everything. `ledger` is read to its end. What is no view of ours stays as it is.
 */
export function writeViews({ directory, ledger, settings, mayCount }: ViewRequest): void {
  const isNew = !isDirectory(directory)
  for (let round = 0; round < maxRounds; round += 1) {
    ledger.advance()
    writeIfNew(directory, viewFiles.state, stateView(ledger.history))
    // Whoever else has appended meanwhile may have edited.
    if (mayCount || round > 0 || !isFile(join(directory, viewFiles.edits)))
      writeIfNew(directory, viewFiles.edits, editTrackerView(ledger.history, settings))
    if (!ledger.hasGrown()) break
  }
  if (isNew) writeFileAtomic(join(directory, viewFiles.ignore), ignoreText)
}

function writeIfNew(directory: string, name: WrittenView, view: object): void {
  const path = join(directory, name)
  const text = `${JSON.stringify(view, null, 2)}\n`
  const found = readHead(path, maxViewBytes)
  if (found.kind === 'text' && found.text === text) return
  // In a directory that bears our mark everything by the name of a view is one, whatever somebody wrote into it.
  if (mayReplace(name, found) || (found.kind === 'text' && ignoresItself(directory)))
    writeFileAtomic(path, text)
}
