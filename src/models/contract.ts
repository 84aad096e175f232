import type { z } from 'zod'
import { GantryError } from '../core/error.ts'
import type { AgentFailure } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'
import type { Budget } from './budget.ts'

export type { Budget } from './budget.ts'

/** Access to one language model. Every model call in Gantry goes through this. */
export interface Model {
  /** `provider:model`, as the user wrote it and as it is priced. */
  readonly name: string
  /** Plain text. Throws GantryError MODEL_UNAVAILABLE when the model cannot be reached or refuses. */
  text(request: ModelRequest): Promise<ModelAnswer<string>>
  /** An answer that matches a schema: one repair round, in which the model sees the problem, then a typed error. */
  structured<T>(request: ModelRequest & { readonly schema: z.ZodType<T> }): Promise<ModelAnswer<T>>
  /** Lets the model use tools until it requests none, or a limit is reached. Fails as `text` does. */
  loop(request: LoopRequest): Promise<LoopAnswer>
}

export interface LoopRequest extends ModelRequest {
  readonly tools: readonly Tool[]
  /** Maximum number of model answers. Default 50. */
  readonly maxTurns?: number
  /** Called for each event, in order. */
  readonly onStep?: (step: LoopStep) => void
  /** Called when the model wants to stop. A returned text is sent as the user's next message, and the loop continues. */
  readonly beforeStop?: (text: string) => Promise<string | null>
}

/** A tool that a model may use. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly input: z.ZodType
  /** `input` has been validated. The model sees a thrown error as the tool's error. */
  run(input: unknown, call: { readonly id: string; readonly signal: AbortSignal }): Promise<ToolResult>
}

export interface ToolResult {
  readonly output: string
  readonly isError?: boolean
  readonly exitCode?: number
}

export type LoopStep =
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'usage'
      readonly model: string
      readonly tokens: TokenUsage
      readonly costUsd: number | null
    }
  | { readonly kind: 'tool_call'; readonly id: string; readonly name: string; readonly input: unknown }
  | ({
      readonly kind: 'tool_result'
      readonly id: string
      readonly name: string
      readonly durationMs: number
    } & ToolResult)

export interface LoopAnswer extends ModelAnswer<string> {
  readonly turns: number
  readonly ending: 'done' | 'max_turns'
}

export type Effort = 'none' | 'low' | 'medium' | 'high'

export interface ModelRequest {
  readonly system?: string
  readonly prompt: string
  readonly maxOutputTokens?: number
  readonly temperature?: number
  /** How much the model thinks before it answers. Left out for models without such a setting. Default: the model's own. */
  readonly effort?: Effort
  /** Time limit of each call to the provider. Default: the limit of the model. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Charged instead of the model's budget: a trial that has reserved its share pays from it. */
  readonly budget?: Budget
}

export interface ModelAnswer<T> {
  readonly value: T
  readonly tokens: TokenUsage
  /** null when the model has no known price: unmetered, which is not zero. */
  readonly costUsd: number | null
}

/** Why a call failed, and what it cost: the cause of every GantryError MODEL_UNAVAILABLE that a model throws. */
export interface ModelFailure {
  readonly reason: AgentFailure | 'over_budget'
  readonly message: string
  readonly tokens: TokenUsage
  readonly costUsd: number | null
}

/** null when a model did not throw the error. */
export function modelFailureOf(error: unknown): ModelFailure | null {
  if (!(error instanceof GantryError) || error.code !== 'MODEL_UNAVAILABLE') return null
  return isModelFailure(error.cause) ? error.cause : null
}

function isModelFailure(cause: unknown): cause is ModelFailure {
  return typeof cause === 'object' && cause !== null && 'reason' in cause && 'tokens' in cause
}
