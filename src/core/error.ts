import { type ExitCode, exitCode } from './exit-code.ts'

/** A position in a user's file. Lines and columns count from 1. */
export interface SourcePosition {
  readonly file: string
  readonly line?: number
  readonly column?: number
}

const exitCodeOf = {
  /** A flag, an argument or a combination of them is invalid. */
  USAGE: exitCode.usage,
  /** A file the user wrote does not parse or does not fit its schema. */
  INVALID_FILE: exitCode.usage,
  /** Something stored is of a version of Gantry with another format. */
  OTHER_VERSION: exitCode.usage,
  /** What the user named is in a state that does not allow it. */
  WRONG_STATE: exitCode.usage,
  /** Something the user named does not exist: a file, a run, an agent, a scenario. */
  NOT_FOUND: exitCode.usage,
  /** A path or link leads out of the directory it must stay in. */
  UNSAFE_PATH: exitCode.usage,
  /** The disk is full or a quota is reached. */
  NO_SPACE: exitCode.infra,
  /** A directory cannot be written. */
  NOT_WRITABLE: exitCode.infra,
  /** Another process holds what this one needs. */
  LOCKED: exitCode.infra,
  /** A program could not be started. */
  SPAWN_FAILED: exitCode.infra,
  /** A model cannot be reached, refused the request, or gave two invalid answers. */
  MODEL_UNAVAILABLE: exitCode.infra,
  /** The database of a queue cannot be reached or refuses. */
  QUEUE_UNAVAILABLE: exitCode.infra,
  /** Stored data is damaged. */
  CORRUPT: exitCode.infra,
  /** The user pressed Ctrl-C, or a parent process asked Gantry to stop. */
  INTERRUPTED: exitCode.interrupted,
} as const satisfies Record<string, ExitCode>

export type ErrorCode = keyof typeof exitCodeOf

export interface ErrorDetails {
  /** What the user can do about it, as an imperative sentence. */
  readonly hint?: string
  readonly at?: SourcePosition
  readonly cause?: unknown
}

/** The exception for errors of the user or the environment. Any other exception is a bug. */
export class GantryError extends Error {
  override readonly name = 'GantryError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly at: SourcePosition | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.hint = details.hint
    this.at = details.at
  }

  get exitCode(): ExitCode {
    return exitCodeOf[this.code]
  }
}

/** null after an error of the user or the environment, or only after one with this code. A bug is thrown. */
export function nullAfterError<T>(act: () => T, code?: ErrorCode): T | null {
  try {
    return act()
  } catch (error) {
    if (error instanceof GantryError && (code ?? error.code) === error.code) return null
    throw error
  }
}

/** `file:line:col`, as editors and terminals turn into links. */
export function formatPosition({ file, line, column }: SourcePosition): string {
  return [file, line, column].filter((part) => part !== undefined).join(':')
}
