import type { AgentEnding, AgentEvent, AgentFailure, Untimed } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'
import type { ModelEndpoint } from '../models/boundary/contract.ts'
import type { Model } from '../models/contract.ts'
import type { Sandbox } from '../sandboxes/contract.ts'

/**
 * The code that runs one agent and turns its output into events.
 *
 * A driver guarantees:
 * - the prompt reaches the agent byte for byte;
 * - no process it started is alive when `run` settles, however it settles;
 * - `run` never throws for the behaviour of an agent: a crash, a hang, garbage output are outcomes;
 * - `spawn` is the first event and `complete` the last, also when the agent could not be started;
 * - the agent sees only its given environment.
 */
export interface AgentDriver {
  /** The registry's name: `scripted`, `command`, `claude-code`, `codex`, … */
  readonly name: string
  /** Whether the agent is installed and usable, and its version. Free of charge and without side effects. */
  probe(context: ProbeContext): Promise<AgentProbe>
  run(request: AgentRequest): Promise<AgentOutcome>
  /** Keeps one agent alive for many prompts, where possible: the fast path. `run` is then one prompt of such a session. */
  openSession?(request: SessionRequest): Promise<AgentSession>
  /** Absent for an agent without a model, such as the scripted one. */
  readonly modelAccess?: ModelAccess
  /** false: its output does not show which tools it uses. */
  readonly reportsTools?: false
}

/** One agent of the configuration. */
export interface AgentInstance<Config> {
  /** The name the user gave it. */
  readonly name: string
  readonly config: Config
  /** Absolute: the base of relative paths in the configuration. */
  readonly base: string
}

/** How an agent reaches its model. */
export interface ModelAccess {
  /** Variables of the caller for authentication; passed on unless its model is behind the boundary. */
  readonly credentials: readonly string[]
  /** Whether it reports the cost of its calls. If not, the boundary can. */
  readonly reportsCost: boolean
}

/** Options that all prompts of a session share. */
export interface SessionRequest extends Omit<AgentRequest, 'prompt'> {
  /**
   * Gets the input of the agent's own hooks, where the agent supports it: exact data, before and after. The agent does not wait for it.
   */
  readonly onHook?: (seen: SeenHook) => void
}

/** A hook event of the agent, with the agent's own names. */
export interface SeenHook {
  /** `PreToolUse`, `PostToolUse`, `SubagentStart`, `UserPromptExpansion`, … */
  readonly event: string
  readonly input: Readonly<Record<string, unknown>>
  /** Milliseconds since the epoch. */
  readonly timestamp: number
}

/** Options of one prompt of a session. */
export interface AskOptions {
  /** Overrides the session's. */
  readonly timeoutMs?: number
  readonly maxTurns?: number
  /** Time to stop by itself after the time limit; if the agent does, the session stays open. Absent: it is ended at once. */
  readonly interruptGraceMs?: number
}

export interface AgentSession {
  /**
   * Runs one prompt until the agent waits for the next one. The outcome has the cost and tokens of this prompt. `spawn`
   * is emitted when the session is opened, `complete` by `close`. One at a time.
   */
  ask(prompt: string, options?: AskOptions): Promise<AgentOutcome>
  /** Clears the conversation; the process, its plugins and servers stay. Absent where it is not supported. */
  clear?(): Promise<void>
  /** Adds messages before the next prompt as if they had been part of the conversation, without a model call. */
  recall?(messages: readonly RecalledMessage[]): Promise<void>
  /** Undoes the changes of the agent's own file tools since the last prompt began. */
  rewind?(): Promise<{ readonly kind: 'rewound' } | { readonly kind: 'refused'; readonly why: string }>
  /** What the agent has loaded by its own report, without a model call. null when it did not start. */
  loaded?(): Promise<LoadedParts | null>
  /** Whether another prompt is possible: false once the agent has ended. */
  isAlive?(): boolean
  /** Ends the agent and all processes it started. */
  close(): Promise<void>
}

export interface RecalledMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** As the agent reports it at its start. */
export interface LoadedParts {
  readonly version: string | null
  /** Of the session; absent when it is not reported. */
  readonly model?: string
  readonly session_id: string | null
  readonly tools: readonly string[]
  readonly skills: readonly string[]
  readonly agents: readonly string[]
  readonly commands: readonly string[]
  readonly plugins: readonly { readonly name: string; readonly path: string }[]
  readonly plugin_errors: readonly string[]
  readonly mcp_servers: readonly {
    readonly name: string
    readonly status: string
    readonly tools?: readonly string[]
    readonly error?: string
  }[]
}

export interface ProbeContext {
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface AgentProbe {
  readonly found: boolean
  /** null when the agent has no version. */
  readonly version: string | null
  /** null when it cannot be known without a paid call. */
  readonly authenticated: boolean | null
  /**
   * Changes whenever the agent would behave differently: its version, the content of its script, its settings. Part of every cache key.
   */
  readonly fingerprint: string
  /** Why it is not usable, or may not work as expected, and how to fix it. */
  readonly problem?: string
  /** What the user can do about it, when `problem` does not contain it. */
  readonly hint?: string
  /** The command that would fix it. */
  readonly fix?: string
  /** The supported versions for people: `2.1.112 up to 3`. */
  readonly supported?: string
  /** Where it was found. */
  readonly path?: string
}

export interface AgentRequest {
  readonly prompt: string
  /** Absolute. The agent's working directory. */
  readonly workspace: string
  /** `default` leaves the choice to the agent. */
  readonly model: string
  /** The complete environment of the agent, with HOME, TMPDIR and PATH: nothing of ours is added. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxTurns?: number
  /** The agent is stopped when its reported cost exceeds this. */
  readonly maxCostUsd?: number
  /** Asked with what the agent has cost; returns the limit that applies now. Absent: the limit is fixed. */
  readonly raiseCostLimit?: (neededUsd: number) => number | null
  /** The boundary, used instead of the provider. */
  readonly endpoint?: ModelEndpoint
  /** Aborted with the reason `over_budget` when another meter has found the limit exceeded; otherwise it is a cancellation. */
  readonly signal: AbortSignal
  readonly emit: (event: Untimed<AgentEvent>) => void
  /** Receives the raw output of the process, before any parsing. */
  readonly transcript: (chunk: Uint8Array) => void
  readonly hooks?: AgentHooks
  /** Where the agent's process runs, or its commands if the agent runs in process. Absent: as the user. */
  readonly sandbox?: Pick<Sandbox, 'run' | 'wrap'> | undefined
}

export interface AgentOutcome {
  readonly ending: AgentEnding
  readonly exitCode: number | null
  /** The last message of the agent, if there is one. */
  readonly finalText: string | null
  /** null when the agent did not report it, or its price is unknown. */
  readonly costUsd: number | null
  readonly tokens: TokenUsage | null
  /** Set for an infrastructure failure; makes the trial `infra`. */
  readonly failure: FailureReport | null
  /** Set when the agent's input is broken, such as a plugin that did not load; makes the trial `invalid`. */
  readonly invalid?: string
  /** Notes for the reader that did not stop the agent: a fallback, a setting without effect. */
  readonly warnings?: readonly string[]
  /** Answers of the model on the main thread, where the agent reports them. */
  readonly turns?: number
  /** How long it waited for its model, where the agent reports it. */
  readonly apiDurationMs?: number
  /** Names of the tools whose use was denied, one for each call, where the agent reports them. */
  readonly deniedTools?: readonly string[]
}

export interface FailureReport {
  readonly reason: AgentFailure
  readonly message: string
}

/**
 * Hooks for a driver that runs its agent in process; the caller passes the guard's rules here. Drivers and rules do not
 * depend on each other.
 */
export interface AgentHooks {
  /** Before the first prompt. Returns facts for the model; the scripted agent, which has no model, does not call it. */
  begin?(): Promise<HookContext>
  beforeTool?(call: HookedCall): Promise<ToolDecision>
  /** The returned text is shown to the model with the output. */
  afterTool?(
    result: HookedCall & { readonly output: string; readonly exitCode?: number; readonly isError?: boolean },
  ): Promise<HookContext>
  beforeStop?(lastMessage?: string): Promise<StopDecision>
}

/** Facts for the model, or nothing. */
export type HookContext = string | null | undefined

export interface HookedCall {
  /** The same before and after; absent where the agent's calls have no id. */
  readonly id?: string
  readonly tool: string
  readonly input: unknown
}

export type ToolDecision = { readonly kind: 'allow' } | { readonly kind: 'deny'; readonly reason: string }
export type StopDecision = { readonly kind: 'allow' } | { readonly kind: 'refuse'; readonly reason: string }

/**
 * How the agent gets its model; passed by the caller that creates the agent. `default` chooses by the keys that are
 * set. Throws GantryError when there is no access; sends no request.
 */
export type ModelOpener = (
  name: string,
  options: {
    readonly env: Readonly<Record<string, string>>
    readonly endpoint?: ModelEndpoint
    /** A call that would exceed it is refused. */
    readonly maxCostUsd?: number
    readonly raiseCostLimit?: AgentRequest['raiseCostLimit']
  },
) => Promise<Model>
