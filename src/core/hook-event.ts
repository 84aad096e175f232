/**
 * One event that an agent sends to its hooks, in one union for all agents. A codec (`agents/<agent>/hooks.ts`) creates it from the
 * agent's payload. Rules see nothing else. Values missing in the payload are null, never guessed.
 */
export type HookEvent = HookEventBase & HookEventDetail

export interface HookEventBase {
  /** Which agent called: the codec's name. */
  readonly agent: GuardedAgent
  /** The agent's session id. It is sanitized where it becomes a file name. */
  readonly session: string
  /** Id of a subagent; null on the main thread. */
  readonly agentId: string | null
  readonly agentType: string | null
  /** Id of one user prompt and the turn that follows; null when the agent has no such id. */
  readonly promptId: string | null
  /** Absolute. Follows `cd`, so it is never used as a key. */
  readonly cwd: string
  /** Absolute, real path of the project. Does not follow `cd`. */
  readonly root: string
}

/** Name of an agent in the registry of hook codecs (`agents/hook-codecs.ts`), or `builtin`, which has its hooks in process. */
export type GuardedAgent = string

/** What an agent's hooks can see. Set by its codec, read by rules. */
export interface HookTraits {
  /** All its shell calls share one shell, so exports and definitions persist between calls. */
  readonly keepsShell?: boolean
  /** It can send input to a running program, and no hook sees that input. */
  readonly typesUnseen?: boolean
  /** Its hooks often do not receive the exit code of a command. */
  readonly hidesExitCodes?: boolean
  /**
   * Its commands have the rights of its hooks, unless `sandbox.enabled` is set in one of these files, relative to the project or with `~`.
   * Absent where its commands may have fewer rights.
   */
  readonly sandboxSettings?: readonly string[]
}

export type HookEventDetail =
  | { readonly kind: 'session_start'; readonly source: SessionSource }
  | { readonly kind: 'session_end'; readonly reason: string | null }
  | {
      readonly kind: 'prompt'
      readonly text: string
      /** Not typed by the user: a notification of background work, or a refusal of the guard sent back as a prompt. */
      readonly synthetic: boolean
    }
  | { readonly kind: 'tool_before'; readonly call: ToolCall }
  | { readonly kind: 'tool_after'; readonly call: ToolCall; readonly outcome: ToolOutcome }
  | { readonly kind: 'tool_denied'; readonly call: ToolCall; readonly reason: string | null }
  | {
      readonly kind: 'stop' | 'subagent_stop'
      /** The agent reports that it continues because of a hook. Not reliable for every agent. */
      readonly again: boolean
      readonly lastMessage: string | null
      /** A subagent still runs in the background, so the turn only pauses. */
      readonly background: boolean
      /** Commands that run in the background: a server, a check. */
      readonly processes?: readonly string[]
    }
  | { readonly kind: 'stop_failed'; readonly error: string | null }
  | { readonly kind: 'subagent_start' }
  | { readonly kind: 'compact_before'; readonly trigger: string | null }
  | { readonly kind: 'compact_after'; readonly summary: string | null }
  | { readonly kind: 'config_change'; readonly source: string | null; readonly path: string | null }
  /** An event that no rule uses. */
  | { readonly kind: 'other'; readonly name: string }

export type HookKind = HookEventDetail['kind']

export type SessionSource = 'startup' | 'resume' | 'clear' | 'compact' | 'fork'

export interface ToolCall {
  /** null when the agent gives calls no id (Gemini CLI, Copilot). */
  readonly id: string | null
  /** The agent's name of the tool: `Bash`, `run_shell_command`, `mcp__files__write`. */
  readonly tool: string
  readonly action: ToolAction
  /** Unchanged, for the trace and for signatures. */
  readonly input: unknown
}

/** What a tool call would do. Paths are as the agent wrote them. Relative ones are relative to `cwd`. */
export type ToolAction =
  | {
      readonly kind: 'shell'
      readonly command: string
      readonly background: boolean
      readonly language: 'bash' | 'powershell'
      /** The working directory the agent reports, when it is not `cwd`. */
      readonly directory?: string
    }
  /** Creates a file or replaces its whole content. */
  | { readonly kind: 'write'; readonly path: string; readonly content: string | null }
  | { readonly kind: 'edit'; readonly path: string; readonly edits: readonly TextEdit[] }
  /** A patch over any number of files, such as Codex's `apply_patch`. */
  | { readonly kind: 'patch'; readonly text: string; readonly files: readonly PatchedFile[] }
  | { readonly kind: 'read'; readonly path: string | null }
  | { readonly kind: 'subagent'; readonly type: string | null; readonly prompt: string | null }
  /** A tool of an MCP server or another unknown tool, judged by its input. */
  | { readonly kind: 'unknown'; readonly server: string | null }

export interface TextEdit {
  readonly old: string
  readonly new: string
}

export interface PatchedFile {
  readonly path: string
  readonly change: 'add' | 'update' | 'delete'
  /** The new path. */
  readonly to?: string
}

export interface ToolOutcome {
  /** `unknown`: the agent does not report whether it failed (a shell command under Codex). */
  readonly kind: 'success' | 'failure' | 'unknown'
  readonly exitCode: number | null
  /** stdout and stderr, as far as the agent passes them on. */
  readonly output: string
  readonly interrupted: boolean
  readonly timedOut: boolean
  /** It was only started. Its end is unknown. */
  readonly background: boolean
  /** Present when the agent reports the duration. */
  readonly durationMs?: number
}
