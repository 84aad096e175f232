/**
 * All events of a trial, for all agents. An event in memory equals its line in `events.jsonl`: first `ts` (seconds since the epoch, a
 * float) and `event` (the kind), names in snake_case. The log is a public format that users' scripts read, so fields are only added.
 */
export type GantryEvent = AgentEvent | HarnessEvent

/** What an agent did, as its driver and the model boundary saw it. */
export type AgentEvent =
  | SpawnEvent
  | SessionEvent
  | OutputEvent
  | MessageEvent
  | ToolCallEvent
  | ToolResultEvent
  | UsageEvent
  | ModelCallEvent
  | HookRunEvent
  | AgentErrorEvent
  | RawEvent
  | CompleteEvent

/** What Gantry itself did around the agent. */
export type HarnessEvent =
  | SetupCommandEvent
  | HealthCheckEvent
  | TargetCallEvent
  | PostScriptEvent
  | GateEvent
  | EvaluatorEvent
  | JudgeEvent
  | NoteEvent

interface Timed {
  /** Seconds since the epoch, with fraction. */
  readonly ts: number
}

export interface SpawnEvent extends Timed {
  readonly event: 'spawn'
  readonly command: string
  readonly args: readonly string[]
  readonly pid?: number
}

/** What the agent reports about itself and what it loaded. Proves that the trial is hermetic. */
export interface SessionEvent extends Timed {
  readonly event: 'session'
  readonly agent: string
  readonly agent_version?: string
  readonly session_id?: string
  readonly model?: string
  readonly tools?: readonly string[]
  readonly skills?: readonly string[]
  /** Subagents it can start. */
  readonly agents?: readonly string[]
  /** Slash commands, without the slash. */
  readonly commands?: readonly string[]
  readonly plugins?: readonly string[]
  readonly plugin_errors?: readonly string[]
  readonly mcp_servers?: readonly string[]
  readonly permission_mode?: string
}

export interface OutputEvent extends Timed {
  readonly event: 'output'
  readonly text: string
  readonly stream?: 'stdout' | 'stderr'
}

export interface MessageEvent extends Timed {
  readonly event: 'message'
  readonly role: 'assistant' | 'user' | 'system' | 'thinking'
  readonly text: string
  readonly model?: string
  /** For output of a subagent: the id of the tool call that started it. */
  readonly parent_id?: string
}

/** The agent asked for a tool. `command` is there when the tool runs a shell command. */
export interface ToolCallEvent extends Timed {
  readonly event: 'tool_call'
  readonly id?: string
  readonly tool: string
  readonly command?: string
  readonly input?: unknown
  readonly parent_id?: string
}

/** The tool's result. `exit_code` is absent when the agent does not report it: unknown is not zero. */
export interface ToolResultEvent extends Timed {
  readonly event: 'tool_result'
  readonly id?: string
  readonly output: string
  readonly exit_code?: number
  readonly is_error?: boolean
  readonly duration_secs?: number
  readonly parent_id?: string
}

/** Tokens and money. Drivers emit increments and readers add them up. An absent cost means unmetered. */
export interface UsageEvent extends Timed {
  readonly event: 'usage'
  readonly model?: string
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens?: number
  readonly cache_write_tokens?: number
  readonly thinking_tokens?: number
  readonly cost_usd?: number
}

/** A request to the model of an agent behind the boundary, when it was answered. Its cost is absent when nothing is charged or known. */
export interface ModelCallEvent extends Timed, Partial<Omit<UsageEvent, 'ts' | 'event' | 'model'>> {
  readonly event: 'model_call'
  /** In the order of arrival, from 0. */
  readonly index: number
  readonly api: string
  readonly model: string
  /** `turn`, `side`, `compaction`, `count_tokens` or `list_models`. */
  readonly kind: string
  readonly status: number
  /** What answered: `script`, `replay`, `record`, `upstream`, `refused` or `fault`. */
  readonly by: string
  readonly fault?: string
  readonly duration_secs: number
}

export interface HookRunEvent extends Timed {
  readonly event: 'hook'
  readonly hook: string
  readonly name?: string
  readonly outcome?: string
  readonly output?: string
  readonly exit_code?: number
  /** The same when it begins and when it has ended. */
  readonly hook_id?: string
  readonly session_id?: string
  readonly stdout?: string
  readonly stderr?: string
}

/** The agent or its model reported an infrastructure failure. */
export interface AgentErrorEvent extends Timed {
  readonly event: 'error'
  readonly reason: AgentFailure
  readonly message: string
}

/** Why an agent, or a model, could not work. All of these make a trial `infra`, never `fail`. */
export const agentFailures = [
  'auth',
  'rate_limit',
  'overloaded',
  'context',
  'timeout',
  'refused',
  'malformed',
  'unavailable',
] as const

export type AgentFailure = (typeof agentFailures)[number]

/** An unknown line of the agent's stream. Never fatal, because formats change between versions. */
export interface RawEvent extends Timed {
  readonly event: 'raw'
  readonly line: string
}

export interface CompleteEvent extends Timed {
  readonly event: 'complete'
  readonly exit_code: number | null
  readonly duration_secs: number
  readonly ending: AgentEnding
}

/**
 * How an agent's process ended: by itself, at the time, cost or turn limit, stopped by Gantry (Ctrl-C), killed by another signal, or
 * never started.
 */
export type AgentEnding =
  | 'exited'
  | 'timed_out'
  | 'over_budget'
  | 'over_turns'
  | 'cancelled'
  | 'crashed'
  | 'not_started'

export interface SetupCommandEvent extends Omit<HealthCheckEvent, 'event'> {
  readonly event: 'setup_command'
  readonly index: number
}

export interface HealthCheckEvent extends Timed {
  readonly event: 'health_check'
  readonly command: string
  readonly exit_code: number
  readonly output: string
  readonly success: boolean
}

/** The agent called the target tool, as the program in its place recorded it. Logged when the agent has ended. */
export interface TargetCallEvent extends Timed {
  readonly event: 'target_call'
  readonly args: readonly string[]
  readonly cwd: string
  /** Seconds since the epoch, with fraction. */
  readonly started: number
  /** 128 + n after signal n; null when the call did not end before the agent. */
  readonly exit_code: number | null
  readonly duration_secs?: number
  /** The end of the output, as far as it went to a pipe or a file. With `2>&1` everything is in `stdout`. */
  readonly stdout?: string
  readonly stderr?: string
  /** The reader of its output, such as `head`, ended before the tool. */
  readonly cut_off?: true
}

export interface PostScriptEvent extends Timed {
  readonly event: 'post_script'
  readonly command: string
  readonly exit_code: number
  readonly timed_out: boolean
  readonly stdout: string
  readonly stderr: string
}

export interface GateEvent extends Timed {
  readonly event: 'gate'
  readonly index: number
  readonly type: string
  readonly passed: boolean
  readonly message: string
}

export interface EvaluatorEvent extends Timed {
  readonly event: 'evaluator'
  readonly name: string
  readonly score?: number
  readonly error?: string
}

export interface JudgeEvent extends Timed {
  readonly event: 'judge'
  readonly sample: number
  readonly model: string
  readonly weighted_score?: number
  readonly error?: string
}

/** A message for readers of the log: a fallback, a reached limit, a warning. */
export interface NoteEvent extends Timed {
  readonly event: 'note'
  readonly level: 'info' | 'warning'
  readonly message: string
}

/** An event before the log stamps its time. */
export type Untimed<E extends GantryEvent = GantryEvent> = E extends GantryEvent ? Omit<E, 'ts'> : never
