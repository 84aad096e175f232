import type { z } from 'zod'
import type { TokenUsage } from '../core/trial.ts'

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
}

export interface ModelAnswer<T> {
  readonly value: T
  readonly tokens: TokenUsage
  /** null = the model has no known price: unmetered, which is not zero. */
  readonly costUsd: number | null
}
