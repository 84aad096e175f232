import type { Fold, SessionHistory } from '../contract.ts'

export const sessionFold: Fold<SessionHistory> = {
  initial: {
    id: null,
    startedAt: null,
    latestMs: 0,
    contextInjected: false,
    compactedAt: null,
    relay: null,
    declared: [],
    entries: 0,
    warned: [],
  },
  apply: (state) => state,
}
