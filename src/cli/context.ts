import type { ExitCode } from '../core/exit-code.ts'

/** The process as a command sees it: passed in, so that every command can be run and tested without spawning. */
export interface CliContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: CliStream
  readonly stderr: CliStream
  /** Aborted by the first Ctrl-C or SIGTERM. A command then ends what it started, keeps what is finished, and returns. */
  readonly signal: AbortSignal
  /** The last call wins (default: 0). */
  setExitCode(code: ExitCode): void
}

export interface CliStream {
  write(text: string): void
  readonly isTTY: boolean
  readonly columns: number
  readonly rows?: number
  /** NO_COLOR, FORCE_COLOR and the kind of stream already weighed. */
  readonly color: boolean
  /** Settles when the reader has caught up. */
  drain?(): Promise<void>
}
