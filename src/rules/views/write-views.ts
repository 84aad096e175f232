import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { readTextIfExists } from '../../io/directory.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { isDirectory } from '../../io/path-kind.ts'
import type { Settings } from '../contract.ts'
import type { Ledger } from '../ledger/open-ledger.ts'
import { editTrackerView } from './edit-tracker-view.ts'
import { stateView } from './state-view.ts'

/** More processes than this do not append at once; if they did, the next event would write the views anew. */
const maxRounds = 100

/**
 * Writes `state.json` and `edit-tracker.json` without a lock. Whoever finds afterwards that the ledger has grown writes again,
 * so that the last one to write has seen everything. `ledger` is read to its end.
 */
export function writeViews(directory: string, ledger: Ledger, settings: Settings): void {
  const isNew = !isDirectory(directory)
  for (let round = 0; round < maxRounds; round += 1) {
    ledger.advance()
    writeIfNew(join(directory, 'state.json'), stateView(ledger.history))
    writeIfNew(join(directory, 'edit-tracker.json'), editTrackerView(ledger.history, settings))
    if (!ledger.hasGrown()) break
  }
  // Views are nobody's work: they should not turn up in a commit by accident.
  if (isNew) writeFileAtomic(join(directory, '.gitignore'), '*\n')
}

function writeIfNew(path: string, view: object): void {
  const text = `${JSON.stringify(view, null, 2)}\n`
  if (textAt(path) !== text) writeFileAtomic(path, text)
}

/** null also when something that is no file stands there: writing will say what is wrong. */
function textAt(path: string): string | null {
  try {
    return readTextIfExists(path)
  } catch (cause) {
    if (cause instanceof GantryError) return null
    throw cause
  }
}
