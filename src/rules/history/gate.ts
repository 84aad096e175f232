import type { Fold, GateHistory } from '../contract.ts'

export const gateFold: Fold<GateHistory> = {
  initial: {
    baseTree: null,
    refusals: {},
    lastEnd: null,
    waived: [],
    unlockedUntilMs: 0,
    subagentTrees: {},
    promptId: null,
    sealed: null,
  },
  apply: (state) => state,
}
