import type { EditHistory, Fold, History, LedgerEntry } from '../contract.ts'
import { callFold } from './calls.ts'
import { editFold, growingEditFold } from './edits.ts'
import { evidenceFold, gateFold } from './gate.ts'
import { protectionFold } from './protection.ts'
import { sessionFold, taskFold } from './session.ts'

/** The whole history. Each field is folded separately. */
export const historyFold: Fold<History> = {
  initial: {
    session: sessionFold.initial,
    edits: editFold.initial,
    calls: callFold.initial,
    evidence: evidenceFold.initial,
    gate: gateFold.initial,
    tasks: taskFold.initial,
    protection: protectionFold.initial,
  },
  apply: (state, entry) => ({ ...afterEntry(state, entry), edits: editFold.apply(state.edits, entry) }),
}

/** A history that one ledger reader extends line by line, with the same result as the fold. */
export type GrowingHistory = ReturnType<typeof growHistory>

/**
 * The edits are most of a long history, and most events do not need them, so they are loaded and folded on demand. The result of
 * `loadEdits` must not be shared, because it is changed in place.
 */
export function growHistory(start: Omit<History, 'edits'>, loadEdits: () => EditHistory) {
  let rest = start
  let loaded: { readonly fold: Fold<EditHistory>; edits: EditHistory } | null = null
  let waiting: LedgerEntry[] = []
  const edits = (): EditHistory => {
    if (loaded === null) {
      const own = loadEdits()
      loaded = { fold: growingEditFold(own), edits: own }
    }
    for (const entry of waiting) loaded.edits = loaded.fold.apply(loaded.edits, entry)
    waiting = []
    return loaded.edits
  }
  return {
    /** A returned value is valid only until the next entry is added. */
    get history() {
      return {
        ...rest,
        get edits() {
          return edits()
        },
      }
    },
    take: (entry: LedgerEntry): void => {
      rest = afterEntry(rest, entry)
      waiting.push(entry)
    },
  }
}

function afterEntry(state: Omit<History, 'edits'>, entry: LedgerEntry): Omit<History, 'edits'> {
  return {
    session: sessionFold.apply(state.session, entry),
    calls: callFold.apply(state.calls, entry),
    evidence: evidenceFold.apply(state.evidence, entry),
    gate: gateFold.apply(state.gate, entry),
    tasks: taskFold.apply(state.tasks, entry),
    protection: protectionFold.apply(state.protection, entry),
  }
}
