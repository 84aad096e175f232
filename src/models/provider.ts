import type { AgentFailure } from '../core/event.ts'
import type { TokenUsage } from '../core/trial.ts'
import type { Effort } from './contract.ts'
import type { TokenPrice } from './pricing.ts'

/** One way to reach models. A member is a file that exports one of these and a line in `index.ts`. */
export interface Provider {
  /** What stands before the colon in `provider:model`. */
  readonly name: string
  /** Throws GantryError when the model cannot be used at all: no key, no such file. Sends nothing yet. */
  open(model: string, context: ProviderContext): Promise<ResolvedModel>
}

export interface ProviderContext {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute. Relative paths in a model's name start here. */
  readonly base: string
}

export interface ResolvedModel {
  /** One call, once: retries, budget and repair belong to the caller. Never throws for what the other side does. */
  complete(request: CompletionRequest): Promise<Completion>
  /** What the provider itself knows; the user's prices win. */
  readonly price: TokenPrice | null
}

export interface CompletionRequest {
  readonly system: string | undefined
  /** The conversation so far; the last message is the user's or holds the results of tools. */
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ToolOffer[]
  /** A JSON Schema the answer must fit, for providers that can be held to one. Others ignore it: the prompt says it too. */
  readonly answerSchema?: Readonly<Record<string, unknown>>
  readonly maxOutputTokens: number
  readonly temperature: number | undefined
  /** A wish, as the temperature is. */
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
  /** An earlier answer, given back as it came. */
  | { readonly role: 'assistant'; readonly answer: ModelTurn }
  | { readonly role: 'tool'; readonly results: readonly ToolReply[] }

export interface ToolReply {
  readonly id: string
  readonly name: string
  readonly output: string
  readonly isError: boolean
}

/** One answer of a model. */
export interface ModelTurn {
  readonly text: string
  readonly thinking: string
  readonly toolCalls: readonly ToolRequest[]
  /** What the provider needs to see again and nobody else understands, such as signatures of thoughts. */
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
      /** May the same call work when it is made again? Default: for rate limits and overload only. */
      readonly passing?: boolean
      /** When the other side says how long to wait. */
      readonly retryAfterMs?: number
    }
