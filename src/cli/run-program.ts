import { CommanderError } from 'commander'
import { type ExitCode, exitCode } from '../core/exit-code.ts'
import type { CliContext } from './context.ts'
import { createProgram } from './program.ts'
import { verifyCommand } from './verify.ts'

/** Any command line. Resolves to the exit code of bad usage, or to null when the command ended by itself. */
export async function runProgram(argv: readonly string[], context: CliContext): Promise<ExitCode | null> {
  try {
    // Describing every command takes as long as a small verification, which runs after every change.
    const commands =
      argv[0] === 'verify'
        ? [verifyCommand(context)]
        : (await import('./all-commands.ts')).allCommands(context)
    await createProgram(context, commands).parseAsync(argv, { from: 'user' })
    return null
  } catch (error) {
    // Commander has already printed help or the complaint.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.pass : exitCode.usage
    throw error
  }
}
