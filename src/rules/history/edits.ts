import type { EditHistory, Fold } from '../contract.ts'

export const editFold: Fold<EditHistory> = {
  initial: { counts: {}, contents: {}, byAgent: {} },
  apply: (state) => state,
}
