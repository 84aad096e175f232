import type { RunVerdict } from './summary.ts'
import type { Verdict } from './verdict.ts'

export interface RunFacts {
  readonly counts: Readonly<Record<Verdict, number>>
  readonly notRun: number
  /** A case passed too rarely. Default: any trial failed. */
  readonly belowThreshold?: boolean
  /** Largest share of `infra` trials with which the rest may still be believed. */
  readonly maxInfraRate: number
}

/**
 * What a run says as a whole. The first that holds:
 * - `infra`: more trials than allowed did not really happen, or none did; what remains is not to be trusted, not even its
 *   failures, because whatever broke the others may have broken those too;
 * - `fail`: an agent failed, more often than the threshold allows. It wins over everything below: more cases could not turn it into a pass;
 * - `invalid`: a case is broken. It wins over `partial` because running the rest would not mend it;
 * - `partial`: what ran has passed, and something planned was not run;
 * - `inconclusive`: there was nothing to run;
 * - `pass`.
 */
export function runVerdict({ counts, notRun, maxInfraRate, belowThreshold }: RunFacts): RunVerdict {
  const trials = counts.pass + counts.fail + counts.infra + counts.invalid
  if (counts.infra > 0 && (counts.infra / trials > maxInfraRate || counts.infra === trials)) return 'infra'
  if (belowThreshold ?? counts.fail > 0) return 'fail'
  if (counts.invalid > 0) return 'invalid'
  if (notRun > 0) return 'partial'
  return trials === 0 ? 'inconclusive' : 'pass'
}
