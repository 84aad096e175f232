import type { z } from 'zod'
import { GantryError } from '../core/error.ts'
import type { AgentFailure } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'
import type { Budget } from './budget.ts'

/** Access to one language model. Every model call in the house goes through this. */
export interface Model {
  /** `provider:model`, as the user wrote it and as it is priced. */
  readonly name: string
  /** Plain text. Throws GantryError MODEL_UNAVAILABLE when the model cannot be reached or refuses. */
  text(request: ModelRequest): Promise<ModelAnswer<string>>
  /** An answer that fits a schema: one repair round, in which the model sees what was wrong, then a typed error. */
  structured<T>(request: ModelRequest & { readonly schema: z.ZodType<T> }): Promise<ModelAnswer<T>>
}

export interface ModelRequest {
  readonly system?: string
  readonly prompt: string
  readonly maxOutputTokens?: number
  readonly temperature?: number
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
