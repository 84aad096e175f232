import type { ExitCode } from '../core/exit-code.ts'
import type { CliContext } from './context.ts'
import { printError } from './print-error.ts'
import { processContext } from './process-context.ts'

/** The process's way in: the only place that knows argv, signals and the exit code. */
export async function main(): Promise<void> {
  const { context, exitCodeSet } = processContext()
  const failed = await runCli(process.argv.slice(2), context)
  process.exitCode = failed ?? exitCodeSet()
}

/** Runs one command line. Resolves to the exit code of an error, or to null when the command ended by itself. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<ExitCode | null> {
  try {
    const { runProgram } = await import('./run-program.ts')
    return await runProgram(argv, context)
  } catch (error) {
    return printError(error, context)
  }
}
