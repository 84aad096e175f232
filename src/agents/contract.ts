import type { AgentEnding, AgentEvent, AgentFailure, Untimed } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'
import type { ModelEndpoint } from '../models/boundary/contract.ts'
import type { Model } from '../models/contract.ts'

/**
 * The code that runs one agent and turns its output into events.
 *
 * A driver promises:
 * - the prompt reaches the agent byte for byte;
 * - nothing it started is alive when `run` settles, however it settles;
 * - `run` never throws for what an agent does: a crash, a hang, garbage output are outcomes;
 * - `spawn` is the first event and `complete` the last, also when the agent could not be started;
 * - the agent sees only the environment it is given.
 */
export interface AgentDriver {
  /** The registry's name: `scripted`, `command`, later `claude-code`, `codex`, … */
  readonly name: string
  /** Is the agent there, which version, can it work? Costs no money and changes nothing. */
  probe(context: ProbeContext): Promise<AgentProbe>
  run(request: AgentRequest): Promise<AgentOutcome>
  /** One agent kept alive for many prompts, where it can be: the fast path. `run` is then one prompt of such a session. */
  openSession?(request: SessionRequest): Promise<AgentSession>
  /** Absent for an agent that has no model of its own, such as the scripted one. */
  readonly modelAccess?: ModelAccess
}

/** How an agent reaches its model. */
export interface ModelAccess {
  /** Variables of the caller with which it authenticates; it inherits them unless its model is behind the boundary. */
  readonly credentials: readonly string[]
  /** Does it report what its calls cost? If not, the boundary can. */
  readonly reportsCost: boolean
}

/** What all prompts of a session share. */
export interface SessionRequest extends Omit<AgentRequest, 'prompt'> {
  /** Called with what the agent's own hooks receive, where the agent supports it: exact inputs, before and after. The agent does not wait for it. */
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

/** What one prompt of a session has of its own. */
export interface AskOptions {
  /** Instead of the session's. */
  readonly timeoutMs?: number
  readonly maxTurns?: number
  /**
   * At the time limit the agent is asked to stop, and has this long to do so; if it does, the session lives on. Absent: it is
   * ended at once.
   */
  readonly interruptGraceMs?: number
}

export interface AgentSession {
  /**
   * One prompt, and everything until the agent waits for the next one. Its outcome's cost and tokens are this prompt's.
   * `spawn` was emitted when the session was opened, `complete` is emitted by `close`. One at a time.
   */
  ask(prompt: string, options?: AskOptions): Promise<AgentOutcome>
  /** Forgets the conversation; the process, its plugins and servers stay. Absent where it cannot be done. */
  clear?(): Promise<void>
  /** Words that stand before the next prompt as if they had been said. No model is asked. */
  recall?(messages: readonly RecalledMessage[]): Promise<void>
  /** Puts back what the agent's own file tools changed since the last prompt began. */
  rewind?(): Promise<{ readonly kind: 'rewound' } | { readonly kind: 'refused'; readonly why: string }>
  /** What the agent says it has loaded, without asking its model. null when it never got so far. */
  loaded?(): Promise<LoadedParts | null>
  /** Whether another prompt can be asked: false once the agent is gone. */
  isAlive?(): boolean
  /** Ends the agent and everything it started. */
  close(): Promise<void>
}

export interface RecalledMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** As the agent reports it at its start. */
export interface LoadedParts {
  readonly version: string | null
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
  /** null when it cannot be known without spending money. */
  readonly authenticated: boolean | null
  /**
   * Changes whenever the agent would behave differently: its version, the content of its script, its settings.
   * Part of every cache key.
   */
  readonly fingerprint: string
  /** Why it is not usable, or may not work as expected, and what to do. */
  readonly problem?: string
  /** The command that would fix it. */
  readonly fix?: string
  /** The versions the driver was made for, as a person reads it: `2.1.112 up to 3`. */
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
  /** The whole environment of the agent: HOME, TMPDIR and PATH included, nothing is added from ours. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxTurns?: number
  /** The agent is stopped when what it reports passes this. */
  readonly maxCostUsd?: number
  /** Where the agent finds its model instead of at its provider: the boundary. */
  readonly endpoint?: ModelEndpoint
  /** Aborted with the reason `over_budget` when another meter has seen the limit passed; otherwise it is a cancellation. */
  readonly signal: AbortSignal
  readonly emit: (event: Untimed<AgentEvent>) => void
  /** Receives the process's output as it came, before any parsing. */
  readonly transcript: (chunk: Uint8Array) => void
  readonly hooks?: AgentHooks
}

export interface AgentOutcome {
  readonly ending: AgentEnding
  readonly exitCode: number | null
  /** The last thing the agent said, if it said anything. */
  readonly finalText: string | null
  /** null = the agent did not report it, or its price is unknown. */
  readonly costUsd: number | null
  readonly tokens: TokenUsage | null
  /** Set when the machinery and not the agent failed; makes the trial `infra`. */
  readonly failure: FailureReport | null
  /** Set when what the agent was given is broken, such as a plugin that did not load; makes the trial `invalid`. */
  readonly invalid?: string
  /** What a reader should know although it did not stop the agent: a fallback taken, a setting that could not act. */
  readonly warnings?: readonly string[]
  /** Answers of the model on the main thread, where the agent reports them. */
  readonly turns?: number
  /** How long it waited for its model, where the agent reports it. */
  readonly apiDurationMs?: number
  /** Names of the tools it asked for and was not permitted to use, one for each call, where the agent reports them. */
  readonly deniedTools?: readonly string[]
}

export interface FailureReport {
  readonly reason: AgentFailure
  readonly message: string
}

/**
 * Hooks for a driver that runs its agent in process; the composer passes guard's rules here.
 * No driver knows the rules, no rule knows a driver.
 */
export interface AgentHooks {
  /** Before the first prompt. Facts for the model; the scripted agent, which has none, does not ask. */
  begin?(): Promise<HookContext>
  beforeTool?(call: HookedCall): Promise<ToolDecision>
  /** What it returns is shown to the model with the output. */
  afterTool?(
    result: HookedCall & { readonly output: string; readonly exitCode?: number; readonly isError?: boolean },
  ): Promise<HookContext>
  beforeStop?(lastMessage?: string): Promise<StopDecision>
}

/** Facts for the model, or nothing to say. */
export type HookContext = string | null | undefined

export interface HookedCall {
  /** The same before and after; absent where the agent gives calls no id. */
  readonly id?: string
  readonly tool: string
  readonly input: unknown
}

export type ToolDecision = { readonly kind: 'allow' } | { readonly kind: 'deny'; readonly reason: string }
export type StopDecision = { readonly kind: 'allow' } | { readonly kind: 'refuse'; readonly reason: string }

/**
 * How the agent gets its model; the caller that creates the agent passes this. `default` leaves the choice to the keys that are set. Throws
 * GantryError when there is no access; sends nothing.
 */
export type ModelOpener = (
  name: string,
  options: {
    readonly env: Readonly<Record<string, string>>
    readonly endpoint?: ModelEndpoint
    /** A call that would pass it is refused. */
    readonly maxCostUsd?: number
  },
) => Promise<Model>
