/**
 * One event that an agent sends to its hooks, in one union for all agents. A codec (`agents/<agent>/hooks.ts`) makes it from the
 * agent's payload; rules know nothing else. What a payload does not contain is null, never guessed.
 */
export type HookEvent = HookEventBase & HookHappening

export interface HookEventBase {
  /** Which agent called: the codec's name. */
  readonly agent: GuardedAgent
  /** The agent's own session id, made safe where it becomes a file name. */
  readonly session: string
  /** Of a subagent; null on the main thread. */
  readonly agentId: string | null
  readonly agentType: string | null
  /** One prompt of a person and everything until the agent ends its turn; null where the agent has no name for it. */
  readonly promptId: string | null
  /** Absolute. Follows `cd`: never a key of anything. */
  readonly cwd: string
  /** Absolute, real path of the project: does not follow `cd`. */
  readonly root: string
}

/** Name of an agent in the registry of hook codecs (`agents/hook-codecs.ts`), or `builtin`, which has its hooks in process. */
export type GuardedAgent = string

/** How an agent differs from the others in what its hooks can see. Its codec states it, rules read it. */
export interface HookTraits {
  /** All its shell calls share one shell: what a call exports or defines is still there in the next one. */
  readonly keepsShell?: boolean
  /** It can type into a program that already runs, and no hook sees that input. */
  readonly typesUnseen?: boolean
  /** Its hooks often do not receive the exit code of a command. */
  readonly hidesExitCodes?: boolean
}

export type HookHappening =
  | { readonly kind: 'session_start'; readonly source: SessionSource }
  | { readonly kind: 'session_end'; readonly reason: string | null }
  | {
      readonly kind: 'prompt'
      readonly text: string
      /** Not typed by a person: a notification of background work, or our own refusal coming back as a prompt. */
      readonly synthetic: boolean
    }
  | { readonly kind: 'tool_before'; readonly call: ToolCall }
  | { readonly kind: 'tool_after'; readonly call: ToolCall; readonly outcome: ToolOutcome }
  | { readonly kind: 'tool_denied'; readonly call: ToolCall; readonly reason: string | null }
  | {
      readonly kind: 'stop'
      /** The agent says that it goes on because of a hook. Not reliable on every agent. */
      readonly again: boolean
      readonly lastMessage: string | null
      /** Something still runs in the background or is scheduled: the turn pauses, it is not done. */
      readonly background: boolean
    }
  | { readonly kind: 'stop_failed'; readonly error: string | null }
  | { readonly kind: 'subagent_start' }
  | {
      readonly kind: 'subagent_stop'
      readonly again: boolean
      readonly lastMessage: string | null
      readonly background: boolean
    }
  | { readonly kind: 'compact_before'; readonly trigger: string | null }
  | { readonly kind: 'compact_after'; readonly summary: string | null }
  | { readonly kind: 'config_change'; readonly source: string | null; readonly path: string | null }
  /** An event no rule looks at. */
  | { readonly kind: 'other'; readonly name: string }

export type HookKind = HookHappening['kind']

export type SessionSource = 'startup' | 'resume' | 'clear' | 'compact' | 'fork'

export interface ToolCall {
  /** null where the agent gives calls no id (Gemini CLI, Copilot). */
  readonly id: string | null
  /** As the agent names the tool: `Bash`, `run_shell_command`, `mcp__files__write`. */
  readonly tool: string
  readonly action: ToolAction
  /** As it came, for the trace and for signatures. */
  readonly input: unknown
}

/** What a tool call would do. Paths are as the agent wrote them, relative ones to be resolved against `cwd`. */
export type ToolAction =
  | {
      readonly kind: 'shell'
      readonly command: string
      readonly background: boolean
      readonly language: 'bash' | 'powershell'
      /** Where the agent says it runs, when that is not `cwd`. */
      readonly directory?: string
    }
  /** Makes a file or replaces its whole content. */
  | { readonly kind: 'write'; readonly path: string; readonly content: string | null }
  | { readonly kind: 'edit'; readonly path: string; readonly edits: readonly TextEdit[] }
  /** A patch over any number of files, such as Codex's `apply_patch`. */
  | { readonly kind: 'patch'; readonly text: string; readonly files: readonly PatchedFile[] }
  | { readonly kind: 'read'; readonly path: string | null }
  | { readonly kind: 'subagent'; readonly type: string | null; readonly prompt: string | null }
  /** A tool of an MCP server, or any other we know nothing of: judged by what its input names. */
  | { readonly kind: 'unknown'; readonly server: string | null }

export interface TextEdit {
  readonly old: string
  readonly new: string
}

export interface PatchedFile {
  readonly path: string
  readonly change: 'add' | 'update' | 'delete'
  /** Where it is moved to. */
  readonly to?: string
}

export interface ToolOutcome {
  /** `unknown`: the agent does not report whether it failed (a shell command under Codex). */
  readonly kind: 'success' | 'failure' | 'unknown'
  readonly exitCode: number | null
  /** stdout and stderr as far as the agent hands them over. */
  readonly output: string
  readonly interrupted: boolean
  readonly timedOut: boolean
  /** It was only started; its end is not known. */
  readonly background: boolean
  /** Where the agent reports how long it took. */
  readonly durationMs?: number
}
