import { type ExitCode, exitCode } from '../core/exit-code.ts'
import type { ReporterProblem } from '../report/open-reporters.ts'
import type { CliContext } from './context.ts'
import { printError } from './print-error.ts'

/**
 * Prints why reporters failed and how to write their reports later. Returns the exit code of the command: that of the run, because a
 * reporter never changes a result, or 3 when everything else is well.
 */
export function printReporterProblems(
  problems: readonly ReporterProblem[],
  { runId, code }: { readonly runId: string; readonly code: ExitCode },
  context: Pick<CliContext, 'stderr'>,
): ExitCode {
  for (const { name, error } of problems) {
    context.stderr.write(`The reporter ${name} failed.\n`)
    printError(error, context)
    context.stderr.write(
      `The run is complete and stored. Write the report again with: gantry runs report ${runId} --reporter ${name}\n`,
    )
  }
  return problems.length > 0 && code === exitCode.pass ? exitCode.infra : code
}
