import type { EvidenceHistory, Fold } from '../contract.ts'

export const evidenceFold: Fold<EvidenceHistory> = {
  initial: { byCommand: {}, rejected: {}, tests: null, testsGreen: false },
  apply: (state) => state,
}
