/** A program to start, and how it ended. */
export interface ChildRequest {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
  /** It must not outlive this process, even if this process is killed. */
  readonly endsWithUs?: boolean
  /** It only writes to its output and never opens it by name, so sockets suffice, which are faster to create. */
  readonly onlyWrites?: boolean
}

export type ChildExit =
  | {
      readonly kind: 'exit'
      readonly code: number | null
      readonly signal: string | null
      readonly at: number
    }
  | { readonly kind: 'failed'; readonly cause: Error }

/** Set in the environment of a child and its descendants. An exec inside another keeps the outer mark too, so both find their processes. */
export const markVariable = 'GANTRY_EXEC_ID'
