import type { AgentEnding } from '../../core/event.ts'
import { type ExecResult, exec } from '../../io/exec.ts'
import { followFile } from '../../io/follow-file.ts'
import { writePrivateFile } from '../../io/temporary-directory.ts'
import type { AgentOutcome, AgentRequest } from '../contract.ts'
import { endingOfAbort, isStoppedByUs, passedLimit } from '../limits.ts'
import type { PassedLimit } from '../stream.ts'
import { notStarted } from './not-started.ts'
import type { OutputReader } from './output-reader.ts'

export interface ProcessPlay {
  readonly name: string
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  /** Without it stdin is empty. */
  readonly stdin?: string | undefined
  /** `onProgress` must be called whenever turns or usage may have changed. */
  createReader(onProgress: () => void): OutputReader
  readonly warnings?: readonly string[]
  /** A wrapper runs the program and reports its death by a signal as an exit code. */
  readonly inTerminal?: boolean
  /**
   * Redirects the output to a file, for programs that exit before their output to a pipe is written: writes to a file
   * are complete at once.
   */
  readonly throughFile?: boolean
  /** Appended to the reason why it could not be started. */
  readonly startHint?: string
}

/**
 * Runs an agent process to its end: within its limits, with every byte in the transcript, and with no process left. The
 * caller has emitted `spawn`; `complete` is emitted here.
 */
export async function playProcess(play: ProcessPlay, request: AgentRequest): Promise<AgentOutcome> {
  const stop = new AbortController()
  let passed: PassedLimit | null = null
  const reader = play.createReader(() => {
    passed ??= request.signal.aborted ? null : passedLimit(request, reader.turns(), reader.usage())
    if (passed !== null) stop.abort()
  })
  const onChunk = (chunk: Uint8Array): void => {
    request.transcript(chunk)
    reader.stdout(chunk)
  }
  const argv = request.sandbox?.wrap?.(play.argv) ?? play.argv
  const file = play.throughFile === true ? outputFile(argv, request.env.TMPDIR, onChunk, stop) : null
  const running = exec({
    argv: file?.argv ?? argv,
    cwd: request.workspace,
    env: play.env,
    timeoutMs: request.timeoutMs,
    endsWithUs: true,
    signal: AbortSignal.any([request.signal, stop.signal]),
    // The reader has seen every byte; the capture is not used.
    maxOutputBytes: 4_096,
    onStdout: onChunk,
    onStderr: (chunk) => {
      request.transcript(chunk)
      reader.stderr(chunk)
    },
    ...(play.stdin === undefined ? {} : { stdin: play.stdin }),
  })
  // Also after an error: a file watcher would keep the process alive.
  const result = await running.finally(() => file?.finish())
  const { finalText, failure, costUsd, tokens, invalid, ...end } = reader.end()
  if (result.ending === 'not_started') {
    const problem = `${result.error ?? `cannot start ${play.argv[0]}`}.`
    return notStarted(play.name, request, [problem, play.startHint].filter(Boolean).join(' '))
  }
  const ending = endingOf(play, request, result, passed ?? end.passed ?? null)
  const warnings = [...(play.warnings ?? []), ...survivorWarnings(result)]
  const exitCode = ending === 'exited' ? result.exitCode : null
  request.emit({ event: 'complete', exit_code: exitCode, duration_secs: result.durationMs / 1_000, ending })
  return {
    ending,
    exitCode,
    finalText,
    costUsd,
    tokens,
    failure: isStoppedByUs(ending) ? null : failure,
    ...(invalid === undefined ? {} : { invalid }),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}

/** The first cause wins: output that arrives while a process is stopped at its time limit cannot change the ending. */
function endingOf(
  { inTerminal = false }: ProcessPlay,
  { signal, sandbox }: AgentRequest,
  result: ExecResult,
  passed: PassedLimit | null,
): AgentEnding {
  const limit = passed ?? (signal.aborted && endingOfAbort(signal) === 'over_budget' ? 'over_budget' : null)
  switch (result.ending) {
    case 'timed_out':
      return 'timed_out'
    case 'aborted':
      return passed ?? endingOfAbort(signal)
    case 'exited':
      return (
        limit ??
        ((inTerminal || sandbox !== undefined) && isSignalCode(result.exitCode) ? 'crashed' : 'exited')
      )
    case 'signalled':
      return limit ?? 'crashed'
    case 'not_started':
      return 'not_started'
  }
}

/** A wrapper in a terminal, or a sandbox, can report a death by signal n only as exit code 128 + n. */
function isSignalCode(exitCode: number | null): boolean {
  return exitCode !== null && exitCode > 128 && exitCode < 160
}

export function survivorWarnings({ survivors = [] }: Pick<ExecResult, 'survivors'>): readonly string[] {
  return survivors.length === 0
    ? []
    : [`Processes that the agent left behind could not be ended: ${survivors.join(', ')}.`]
}

/** A file between a program and its reader. An error of the reader stops the program, and `finish` throws it. */
function outputFile(
  argv: readonly string[],
  parent: string | undefined,
  onChunk: (chunk: Uint8Array) => void,
  stop: AbortController,
) {
  const file = writePrivateFile(parent, 'output', '')
  const followed = followFile(file.path, onChunk, () => stop.abort())
  return {
    argv: ['sh', '-c', 'out=$1; shift; exec "$@" > "$out"', 'sh', file.path, ...argv] as const,
    /** Call after the program has ended. */
    finish(): void {
      try {
        followed.finish()
      } finally {
        file.remove()
      }
    },
  }
}
