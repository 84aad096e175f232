import type { AgentEnding, AgentEvent, AgentFailure, Untimed } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'

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
}

export interface ProbeContext {
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface AgentProbe {
  readonly found: boolean
  /** null when the agent has no version to tell. */
  readonly version: string | null
  /** null when it cannot be known without spending money. */
  readonly authenticated: boolean | null
  /**
   * Changes whenever the agent would behave differently: its version, the content of its script, its settings.
   * Part of every cache key.
   */
  readonly fingerprint: string
  /** Why it is not usable, and what to do. */
  readonly problem?: string
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
  /** null = the agent did not tell, or its price is unknown. */
  readonly costUsd: number | null
  readonly tokens: TokenUsage | null
  /** Set when the machinery and not the agent failed; makes the trial `infra`. */
  readonly failure: FailureReport | null
  /** What a reader should know although it did not stop the agent: a fallback taken, a setting that could not act. */
  readonly warnings?: readonly string[]
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
  beforeTool?(call: { readonly tool: string; readonly input: unknown }): Promise<ToolDecision>
  afterTool?(result: {
    readonly tool: string
    readonly input: unknown
    readonly output: string
    readonly exitCode?: number
  }): Promise<void>
  beforeStop?(): Promise<StopDecision>
}

export type ToolDecision = { readonly kind: 'allow' } | { readonly kind: 'deny'; readonly reason: string }
export type StopDecision = { readonly kind: 'allow' } | { readonly kind: 'refuse'; readonly reason: string }
