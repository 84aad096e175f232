import { GantryError } from '../core/error.ts'
import { type ExitCode, exitCode } from '../core/exit-code.ts'
import { streamOutput } from '../io/text-output.ts'
import type { CliContext, CliStream } from './context.ts'
import { printError } from './print-error.ts'

/** The process's way in: the only place that knows argv, signals and the exit code. */
export async function main(): Promise<void> {
  const { context, exitCodeSet } = processContext()
  const failed = await runCli(process.argv.slice(2), context)
  process.exitCode = failed ?? exitCodeSet()
}

/** Runs one command line. Resolves to the exit code of an error, or to null when the command ended by itself. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<ExitCode | null> {
  try {
    const { runProgram } = await import('./program.ts')
    return await runProgram(argv, context)
  } catch (error) {
    return printError(error, context)
  }
}

/** The real process as a command's context, with Ctrl-C turned into an abort signal. */
export function processContext(): { readonly context: CliContext; readonly exitCodeSet: () => ExitCode } {
  let code: ExitCode = exitCode.pass
  const interruption = new AbortController()
  const interrupt = (): void => {
    // The second Ctrl-C means now: io/exec ends its children when the process exits.
    if (interruption.signal.aborted) process.exit(exitCode.interrupted)
    interruption.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  const context: CliContext = {
    get cwd() {
      return workingDirectory()
    },
    env: process.env,
    stdout: streamOf(process.stdout),
    stderr: streamOf(process.stderr),
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

function streamOf(stream: NodeJS.WriteStream): CliStream {
  const sink = streamOutput(stream)
  return {
    write: sink.write,
    drain: sink.drain,
    isTTY: stream.isTTY === true,
    get columns() {
      // A terminal that was never told its size says 0.
      return stream.columns || 80
    },
    get rows() {
      return stream.rows || 24
    },
    color: wantsColor(stream),
  }
}

function wantsColor(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '0') return true
  return stream.isTTY === true && TERM !== 'dumb'
}
