import type { FailedStep, VerifierResponse } from '../verifier/contract.ts'

/** What is kept of a verification; from then on it counts. */
export interface KeptVerification {
  readonly status: VerifierResponse['status']
  readonly runId: string | null
  readonly log: string
  /** State of the tree that was verified. */
  readonly tree: string
  readonly durationMs: number
  readonly failure: string | null
  readonly steps: readonly { readonly name: string; readonly command: string; readonly duration_ms: number }[]
  readonly failedStep: FailedStep | null
  readonly error: { readonly type: string; readonly message: string } | null
}
