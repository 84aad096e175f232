/** One use of a tool by the agent, call and result joined. */
export interface ToolUse {
  readonly tool: string
  readonly command?: string
  readonly input?: unknown
  readonly output?: string
  /** Absent when unknown: the agent did not report it, or no result came. */
  readonly exitCode?: number
  readonly isError?: boolean
  readonly ts: number
}

/** One call of the target tool that was recorded while it ran. */
export interface TargetCall {
  readonly args: readonly string[]
  /** null when unknown: the call did not end, or failed because nothing read its output any more. */
  readonly exitCode: number | null
}

/** One invocation of the target tool. */
export interface TargetInvocation {
  /** The whole command as written, white space folded: its identity. */
  readonly command: string
  /** Group 1 of `command_pattern`, or the first word after the binary. */
  readonly subcommand: string | null
  /** null when unknown. */
  readonly exitCode: number | null
  /** The exit code belongs to a larger command line, or is a guess from text. */
  readonly approximate: boolean
  readonly help: boolean
}
