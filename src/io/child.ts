/** A program to be started, and how it ended. */
export interface ChildRequest {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
  /** It must not outlive this process, even when this process is killed and cannot do anything about it. */
  readonly endsWithUs?: boolean
  /** It only writes to its output and never opens it by a name, so that sockets do, which are there at once. */
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

/** In the environment of a child and of everything it starts. Inside another exec the outer mark stays in it, so that both find their own. */
export const markVariable = 'GANTRY_EXEC_ID'
