import type { z } from 'zod'
import { GantryError } from '../core/error.ts'
import type { AgentFailure } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'
import type { Budget } from './budget.ts'

export type { Budget } from './budget.ts'

/** Access to one language model. Every model call in the house goes through this. */
export interface Model {
  /** `provider:model`, as the user wrote it and as it is priced. */
  readonly name: string
  /** Plain text. Throws GantryError MODEL_UNAVAILABLE when the model cannot be reached or refuses. */
  text(request: ModelRequest): Promise<ModelAnswer<string>>
  /** An answer that fits a schema: one repair round, in which the model sees what was wrong, then a typed error. */
  structured<T>(request: ModelRequest & { readonly schema: z.ZodType<T> }): Promise<ModelAnswer<T>>
  /** Lets the model use tools until it asks for none, or a limit is reached. Fails as `text` does. */
  loop(request: LoopRequest): Promise<LoopAnswer>
}

export interface LoopRequest extends ModelRequest {
  readonly tools: readonly Tool[]
  /** Answers of the model, at most. Default 50. */
  readonly maxTurns?: number
  /** Told as they happen, in order. */
  readonly onStep?: (step: LoopStep) => void
  /** Asked when the model wants to stop. A text is put to it as the user's next message, and the loop goes on. */
  readonly beforeStop?: (text: string) => Promise<string | null>
}

/** Something a model may do. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly input: z.ZodType
  /** `input` has been checked. A throw is told to the model as the tool's error. */
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
  /** How much the model thinks before it answers. A model that cannot be told so is asked without it. Default: the model's own. */
  readonly effort?: Effort
  /** Of each call to the provider. Default: the limit the model was opened with. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Charged instead of the budget the model was opened with: a trial that has reserved its share pays from it. */
  readonly budget?: Budget
}

export interface ModelAnswer<T> {
  readonly value: T
  readonly tokens: TokenUsage
  /** null = the model has no known price: unmetered, which is not zero. */
  readonly costUsd: number | null
}

/** Why a call failed, and what it cost nevertheless: the cause of every GantryError MODEL_UNAVAILABLE a model throws. */
export interface ModelFailure {
  readonly reason: AgentFailure | 'over_budget'
  readonly message: string
  readonly tokens: TokenUsage
  readonly costUsd: number | null
}

/** null when the error is not a model's. */
export function modelFailureOf(error: unknown): ModelFailure | null {
  if (!(error instanceof GantryError) || error.code !== 'MODEL_UNAVAILABLE') return null
  return isModelFailure(error.cause) ? error.cause : null
}

function isModelFailure(cause: unknown): cause is ModelFailure {
  return typeof cause === 'object' && cause !== null && 'reason' in cause && 'tokens' in cause
}
