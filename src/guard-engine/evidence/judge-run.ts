import type { Evidence, EvidenceKind } from '../../core/evidence.ts'
import { countTests } from '../../core/test-output/count-tests.ts'

/** The test counts for the evidence of a run. Lint and builds have none; for mixed commands only real tests count. */
export function countsOf(
  kind: EvidenceKind,
  output: string,
): Pick<Evidence, 'executed' | 'skipped' | 'failed'> {
  if (kind === 'lint' || kind === 'build') return {}
  const counts = countTests(output)
  if (counts === null) return {}
  const { executed, skipped, failed } = counts
  if (kind === 'other' && executed <= skipped && failed === 0) return {}
  return { executed, skipped, ...(failed > 0 && { failed }) }
}

/** Why the end of a finished run does not show anything about the project; null when it does. */
export function emptyEnd(run: {
  readonly exitCode: number
  readonly output: string
  readonly kind: EvidenceKind
  readonly limited?: boolean
}): string | null {
  const { exitCode, output } = run
  if (exitCode === 127) return 'the program was not found (exit 127)'
  if (exitCode === 126) return 'the program could not be executed (exit 126)'
  if (exitCode === 130) return 'it was interrupted (exit 130)'
  if (exitCode === 124 && run.limited) return 'its time limit ran out (exit 124)'
  const isMissing =
    /(?:command not found|: not found|is not recognized as an internal or external command)[ \t.]*$/m
  const counted = countsOf(run.kind, output).executed ?? 0
  if (exitCode === 0 && run.kind === 'test' && counted === 0 && isMissing.test(output.slice(-20_000)))
    return 'its output says that a program was not found, although it ended with exit 0'
  return null
}

export const changedTree =
  'the tree was another one after it than before it: either a file was edited while it ran, or the run itself writes files that git does not ignore; have those ignored, then run it again'
