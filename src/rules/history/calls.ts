import type { CallHistory, Fold } from '../contract.ts'

export const callFold: Fold<CallHistory> = {
  initial: { recent: [], open: {}, total: 0, failures: 0 },
  apply: (state) => state,
}
