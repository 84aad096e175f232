import type { AgentFailure } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'
import type { TokenPrice } from './pricing.ts'

/** One way to reach models. A member is a file that exports one of these and a line in `index.ts`. */
export interface Provider {
  /** What stands before the colon in `provider:model`. */
  readonly name: string
  /** Throws GantryError when the model cannot be used at all: no key, no such file. Sends nothing yet. */
  open(model: string, context: ProviderContext): Promise<OpenModel>
}

export interface ProviderContext {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute. Relative paths in a model's name start here. */
  readonly base: string
}

export interface OpenModel {
  /** One call, once: retries, budget and repair belong to the caller. Never throws for what the other side does. */
  complete(request: CompletionRequest): Promise<Completion>
  /** What the provider itself knows; the user's prices win. */
  readonly price: TokenPrice | null
}

export interface CompletionRequest {
  readonly system: string | undefined
  readonly prompt: string
  readonly maxOutputTokens: number
  readonly temperature: number | undefined
  readonly signal: AbortSignal
}

export type Completion =
  | { readonly kind: 'answer'; readonly text: string; readonly tokens: TokenUsage }
  | {
      readonly kind: 'failure'
      readonly reason: AgentFailure
      readonly message: string
      /** When the other side says how long to wait. */
      readonly retryAfterMs?: number
    }
