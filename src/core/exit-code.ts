import type { RunSummary } from './summary.ts'

/** The exit code of the process. One code per class of outcome, shared by every command. */
export const exitCode = { pass: 0, failed: 1, usage: 2, infra: 3, inconclusive: 4, interrupted: 130 } as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/**
 * The exit code of a finished run. A run without counted trials is never a success. With `strict`, neither is a partial run nor one
 * whose pass rates may be below the threshold.
 */
export function exitCodeOf(summary: RunSummary, { strict }: { readonly strict: boolean }): ExitCode {
  switch (summary.verdict) {
    case 'infra':
      return exitCode.infra
    case 'invalid':
      return exitCode.usage
    case 'fail':
      return exitCode.failed
    case 'pass':
    case 'partial':
    case 'inconclusive':
      break
  }
  if (summary.counts.pass + summary.counts.fail === 0) return exitCode.inconclusive
  const { threshold = 1 } = summary
  const isDoubtful = threshold < 1 && summary.cases.some(({ passRate }) => passRate.low < threshold)
  return strict && (summary.verdict === 'partial' || isDoubtful) ? exitCode.inconclusive : exitCode.pass
}
