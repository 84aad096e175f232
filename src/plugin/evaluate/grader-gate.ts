import { settled } from '../../core/case-tally.ts'
import type { GateResult } from '../../core/trial.ts'

/** What a grader of a case said about a trial. */
export interface GraderGate {
  readonly gate: GateResult
  readonly weight: number
  /** false: it is shown and decides nothing, as a grader that only makes sense with the plugin does in the arm without. */
  readonly scored: boolean
  /** Why it could not be asked, when that is what failed; such a trial says nothing. */
  readonly error?: string
}

/** The weighted share of graders passed; null when none is scored, or one of those that are could not be asked. */
export function graderScore(graders: readonly GraderGate[]): number | null {
  const scored = graders.filter(({ scored: isScored, weight }) => isScored && weight > 0)
  if (scored.some(({ error }) => error !== undefined)) return null
  const all = scored.reduce((sum, { weight }) => sum + weight, 0)
  if (all === 0) return null
  const passed = scored.reduce((sum, { gate, weight }) => sum + (gate.passed ? weight : 0), 0)
  return settled(passed / all)
}
