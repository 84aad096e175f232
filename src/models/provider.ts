import type { AgentFailure } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'
import type { Effort } from './contract.ts'
import type { TokenPrice } from './price-table.ts'

/**
 * One way to reach models. To add one, export it from a file and list it in `index.ts`. Throws GantryError when the model
 * cannot be used: no key, no such file. Sends no request.
 */
export type Provider = (model: string, context: ProviderContext) => Promise<ResolvedModel>

export interface ProviderContext {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute. The base of relative paths in a model's name. */
  readonly base: string
}

export interface ResolvedModel {
  /** Makes one call: the caller handles retries, budget and repair. Never throws for errors of the provider. */
  complete(request: CompletionRequest): Promise<Completion>
  /** The provider's own price; the user's prices override it. */
  readonly price?: TokenPrice
}

export interface CompletionRequest {
  readonly system: string | undefined
  /** The conversation so far; the last message is from the user or contains tool results. */
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ToolOffer[]
  /** A JSON Schema for the answer, for providers that can enforce one. Others ignore it: the prompt contains it too. */
  readonly answerSchema?: Readonly<Record<string, unknown>>
  readonly maxOutputTokens: number
  readonly temperature: number | undefined
  /** Optional, like the temperature. */
  readonly effort?: Effort
  readonly signal: AbortSignal
}

export interface ToolOffer {
  readonly name: string
  readonly description: string
  /** JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>
}

export type ChatMessage =
  | { readonly role: 'user'; readonly text: string }
  /** An earlier answer, sent back unchanged. */
  | { readonly role: 'assistant'; readonly answer: ModelTurn }
  | { readonly role: 'tool'; readonly results: readonly ToolReply[] }

export interface ToolReply {
  readonly id: string
  readonly name: string
  readonly output: string
  readonly isError: boolean
}

export interface ModelTurn {
  readonly text: string
  readonly thinking: string
  readonly toolCalls: readonly ToolRequest[]
  /** Data for the provider to see again, such as thinking signatures; opaque to everything else. */
  readonly opaque?: unknown
}

export interface ToolRequest {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export type Completion =
  | ({ readonly kind: 'answer'; readonly tokens: TokenUsage } & ModelTurn)
  | {
      readonly kind: 'failure'
      readonly reason: AgentFailure
      readonly message: string
      /** Whether a retry may succeed. Default: for rate limits and overload only. */
      readonly passing?: boolean
      /** The wait that the server requested. */
      readonly retryAfterMs?: number
    }
