import type { ExitCode } from '../core/exit-code.ts'
import type { CliContext } from './context.ts'
import { plainVerifyFlags } from './plain-verify-flags.ts'
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
    const flags = plainVerifyFlags(argv)
    if (flags === null) {
      const { runProgram } = await import('./run-program.ts')
      return await runProgram(argv, context)
    }
    const { runVerify } = await import('./run-verify.ts')
    await runVerify(context, flags)
    return null
  } catch (error) {
    return printError(error, context)
  }
}
