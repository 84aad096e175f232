export interface ChildRequest {
  /** Program and arguments; no shell is involved. For a shell command use `shell()`. */
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** Complete. Only `GANTRY_EXEC_ID` is added, to find its descendants. */
  readonly env: Readonly<Record<string, string>>
  /** Written to its stdin, which is then closed. Without it stdin is empty. */
  readonly stdin?: string | Uint8Array
  /** It and its group end even if this process is killed. For programs that may cost money. Linux only. */
  readonly endsWithUs?: boolean
  /** It only writes to its output and never opens it as `/dev/stdout`, so sockets suffice, which are faster to create. */
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
