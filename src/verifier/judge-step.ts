import { counted } from '../core/counted.ts'
import { type Evidence, evidenceStatus } from '../core/evidence.ts'
import { kindOfCommand } from '../core/kind-of-command.ts'
import { countTests } from '../core/test-output/count-tests.ts'

export interface EndedStep {
  readonly command: string
  readonly exitCode: number
  readonly output: string
  readonly treeHash: string
  readonly startedAt: string
  readonly durationMs: number
}

export interface JudgedStep {
  readonly evidence: Evidence
  /** Why the exit code 0 is no success; null for a success and for an honest failure. */
  readonly fakeGreen: string | null
}

/** What a step proves. An exit code is believed only as far as the output of the test framework agrees with it. */
export function judgeStep({ output, ...step }: EndedStep): JudgedStep {
  const kind = kindOfCommand(step.command)
  // Lint and builds may well print somebody else's summary, and have no tests of their own.
  const tellsNothing = kind === 'lint' || kind === 'build' || output === ''
  const counts = tellsNothing ? null : countTests(output)
  const evidence: Evidence = {
    ...step,
    kind,
    ...(counts !== null && {
      executed: counts.executed,
      skipped: counts.skipped,
      ...(counts.failed > 0 && { failed: counts.failed }),
    }),
  }
  return { evidence, fakeGreen: step.exitCode === 0 ? fakeGreenOf(evidence) : null }
}

function fakeGreenOf(evidence: Evidence): string | null {
  const { failed = 0, skipped = 0 } = evidence
  switch (evidenceStatus([evidence], evidence)) {
    case 'red':
      return `it ended with exit code 0, but its output shows ${counted(failed, 'failed test')}`
    case 'hollow':
      return skipped === 0
        ? 'it ended with exit code 0, but no test was executed'
        : `it ended with exit code 0, but all ${skipped} tests were skipped`
    default:
      return null
  }
}
