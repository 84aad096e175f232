import { CommanderError } from 'commander'
import { type ExitCode, exitCode } from '../core/exit-code.ts'
import type { CliContext } from './context.ts'
import { createProgram } from './program.ts'

/** Any command line. Resolves to the exit code of bad usage, or to null when the command ended by itself. */
export async function runProgram(argv: readonly string[], context: CliContext): Promise<ExitCode | null> {
  try {
    await createProgram(context).parseAsync(argv, { from: 'user' })
    return null
  } catch (error) {
    // Commander has already printed help or the complaint.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.pass : exitCode.usage
    throw error
  }
}
