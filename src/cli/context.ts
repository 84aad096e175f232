import type { ExitCode } from '../core/exit-code.ts'

/** The process for a command. Passed in, so that commands can be tested without spawning. */
export interface CliContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: CliStream
  readonly stderr: CliStream
  /** Aborted by the first Ctrl-C or SIGTERM. A command then ends what it started, keeps finished work, and returns. */
  readonly signal: AbortSignal
  /** The last call wins (default: 0). */
  setExitCode(code: ExitCode): void
}

export interface CliStream {
  write(text: string): void
  readonly isTTY: boolean
  readonly columns: number
  readonly rows?: number
  /** Takes NO_COLOR, FORCE_COLOR and the kind of stream into account. */
  readonly color: boolean
  /** Resolves when the reader has caught up. */
  drain?(): Promise<void>
}
