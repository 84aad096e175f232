import { type ExitCode, exitCode } from '../core/exit-code.ts'
import type { CaseSummary, RunSummary } from '../core/summary.ts'

export interface ExitRules {
  /** Pass rate every case must reach. */
  readonly threshold: number
  /** Partial and inconclusive runs are told apart from passing ones. */
  readonly strict: boolean
}

/** What a finished run tells its caller. With a threshold below 1 single failures are allowed, case by case. */
export function exitCodeOf(summary: RunSummary, { threshold, strict }: ExitRules): ExitCode {
  switch (summary.verdict) {
    case 'infra':
      return exitCode.infra
    case 'invalid':
      return exitCode.usage
    case 'fail':
      if (summary.cases.some((entry) => isBelow(entry, threshold))) return exitCode.failed
      if (summary.counts.invalid > 0) return exitCode.usage
      break
    case 'pass':
    case 'partial':
    case 'inconclusive':
      break
  }
  const doubtful = summary.cases.some((entry) => threshold < 1 && entry.passRate.low < threshold)
  const incomplete = summary.notRun > 0 || summary.verdict === 'inconclusive'
  return strict && (incomplete || doubtful) ? exitCode.inconclusive : exitCode.pass
}

function isBelow({ passRate }: CaseSummary, threshold: number): boolean {
  return passRate.value !== null && passRate.value < threshold
}
