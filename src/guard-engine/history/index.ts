import type { EditHistory, Fold, History, LedgerEntry } from '../contract.ts'
import { callFold } from './calls.ts'
import { editFold, growingEditFold } from './edits.ts'
import { evidenceFold, gateFold } from './gate.ts'
import { sessionFold, taskFold } from './session.ts'

/** The whole history: each field is folded by itself. */
export const historyFold: Fold<History> = {
  initial: {
    session: sessionFold.initial,
    edits: editFold.initial,
    calls: callFold.initial,
    evidence: evidenceFold.initial,
    gate: gateFold.initial,
    tasks: taskFold.initial,
  },
  apply: (state, entry) => ({ ...afterEntry(state, entry), edits: editFold.apply(state.edits, entry) }),
}

/** A history that one reader of a ledger adds to, line by line, with the same result as the fold. */
export interface GrowingHistory {
  /** What was handed out earlier is only good until it grows on. */
  readonly history: History
  take(entry: LedgerEntry): void
}

/**
 * What files were edited is most of a long history, and most events never ask: it is loaded and folded when somebody looks.
 * What `loadEdits` gives is nobody else's and may be written to.
 */
export function growHistory(start: Omit<History, 'edits'>, loadEdits: () => EditHistory): GrowingHistory {
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
    get history() {
      return {
        ...rest,
        get edits() {
          return edits()
        },
      }
    },
    take: (entry) => {
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
  }
}
