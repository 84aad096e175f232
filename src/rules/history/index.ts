import type { Fold, History } from '../contract.ts'
import { callFold } from './calls.ts'
import { editFold } from './edits.ts'
import { evidenceFold } from './evidence.ts'
import { gateFold } from './gate.ts'
import { sessionFold } from './session.ts'
import { taskFold } from './tasks.ts'

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
  apply: (state, entry) => ({
    session: sessionFold.apply(state.session, entry),
    edits: editFold.apply(state.edits, entry),
    calls: callFold.apply(state.calls, entry),
    evidence: evidenceFold.apply(state.evidence, entry),
    gate: gateFold.apply(state.gate, entry),
    tasks: taskFold.apply(state.tasks, entry),
  }),
}
