import { GantryError } from '../core/error.ts'
import { type ExitCode, exitCode } from '../core/exit-code.ts'
import { processOutput } from '../io/file-output.ts'
import { Interruption } from '../io/interruption.ts'
import { exitDespiteOwnCode } from '../io/own-code.ts'
import type { CliContext } from './context.ts'
import { printError } from './print-error.ts'
import { usualVerifyFlags } from './usual-verify-flags.ts'

/** The entry point: the only place that uses argv, signals and the exit code. */
export async function main(): Promise<void> {
  const { context, exitCodeSet } = processContext()
  const failed = await runCli(process.argv.slice(2), context)
  process.exitCode = failed ?? exitCodeSet()
  exitDespiteOwnCode()
  // Node would take its heap apart before it exits, which is slow beside a short step. Only `verify` is known to have waited for all that
  // it began: others run code of the user. Output that a slow reader has not taken yet keeps the process alive.
  const isWritten = process.stdout.writableLength + process.stderr.writableLength === 0
  if (process.argv[2] === 'verify' && isWritten) process.exit()
}

/** Runs one command line. Resolves to the exit code of an error, or to null when the command finished. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<ExitCode | null> {
  try {
    const flags = usualVerifyFlags(argv)
    if (flags === null) {
      const { runProgram } = await import('./program.ts')
      return await runProgram(argv, context)
    }
    const { runVerify } = await import('./run-verify.ts')
    await runVerify(context, flags)
    return null
  } catch (error) {
    return printError(error, context, { causes: argv.includes('--debug') })
  }
}

/** The real process as a command's context. Ctrl-C aborts its signal. */
function processContext(): { readonly context: CliContext; readonly exitCodeSet: () => ExitCode } {
  let code: ExitCode = exitCode.pass
  const interruption = new AbortController()
  const interrupt = (signal: NodeJS.Signals): void => {
    // A second signal exits at once: io/exec kills its children when the process exits. Supervisors send SIGINT and then SIGTERM.
    if (interruption.signal.aborted) process.exit(exitCode.interrupted)
    interruption.abort(new Interruption(signal))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  const context: CliContext = {
    get cwd() {
      return workingDirectory()
    },
    env: process.env,
    stdout: processOutput(process.stdout),
    stderr: processOutput(process.stderr),
    signal: interruption.signal,
    setExitCode: (next) => {
      code = next
    },
  }
  return { context, exitCodeSet: () => code }
}

function workingDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new GantryError('NOT_FOUND', 'the working directory no longer exists', {
      hint: 'Change to a directory that exists and try again.',
      cause,
    })
  }
}
