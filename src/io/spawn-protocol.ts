/** What the process asks its spawn server to start. */
export interface SpawnOrder {
  readonly id: number
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Descriptors of the asking process for stdin, stdout and stderr; null for an empty stdin. */
  readonly stdio: readonly [number | null, number, number]
}

/** A program that the process started itself: it must end with that process too. `mark` null: it has ended. */
export interface SpawnWatch {
  readonly pid: number
  readonly mark: string | null
}

export type SpawnReply =
  | { readonly kind: 'started'; readonly id: number; readonly pid: number }
  | {
      readonly kind: 'failed'
      readonly id: number
      readonly message: string
      readonly code: string | undefined
    }
  | {
      readonly kind: 'exited'
      readonly id: number
      readonly code: number | null
      readonly signal: string | null
    }
