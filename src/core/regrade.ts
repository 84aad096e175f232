import type { TrialRecord } from './trial.ts'
import type { Verdict } from './verdict.ts'

type Header = Pick<TrialRecord, 'id' | 'case' | 'agent' | 'model' | 'attempt'>

/** What grading the stored work of a run again has changed. */
export interface Regrade {
  /** The run whose work it is. */
  readonly run_id: string
  /** Trials that were graded again. */
  readonly trials: number
  readonly changed: readonly (Header & {
    readonly was: Verdict
    readonly is: Verdict
    readonly reason: string
  })[]
  /** Trials that could not be graded again. */
  readonly left_out: readonly (Header & { readonly reason: string })[]
}
