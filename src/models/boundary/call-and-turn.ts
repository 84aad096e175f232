import type { TokenUsage } from '../../core/trial.ts'

/** The ways of speaking to a model that the boundary understands. */
export type Api = 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini'

/** `turn`: the agent's work. `side`: a call without tools (titles, summaries). `compaction`: the history is to be summed up. */
export type CallKind = 'turn' | 'side' | 'compaction' | 'count_tokens' | 'list_models'

/** A request to a model, whatever format it came in. Nothing of it is validated beyond what is read here: betas come and go. */
export interface ModelCall {
  readonly api: Api
  readonly kind: CallKind
  readonly model: string
  readonly stream: boolean
  /** All system text, joined by newlines. */
  readonly system: string
  readonly messages: readonly CallMessage[]
  /** Names of the tools that are offered. */
  readonly tools: readonly string[]
  readonly maxOutputTokens: number | null
}

export interface CallMessage {
  readonly role: 'user' | 'assistant' | 'system' | 'tool'
  /** Text parts, joined by newlines. */
  readonly text: string
  readonly toolCalls: readonly {
    readonly id: string | null
    readonly name: string
    readonly input: unknown
  }[]
  readonly toolResults: readonly {
    readonly id: string | null
    readonly text: string
    readonly isError: boolean
  }[]
}

/** What a model answers, before it is put into a format. */
export interface Turn {
  readonly blocks: readonly Block[]
  readonly stop: StopReason
  readonly usage: TokenUsage
  /** Default: the model that was asked for. */
  readonly model?: string
  /** Before the first byte. */
  readonly delayMs?: number
  /** Between the pieces of a stream. */
  readonly chunkDelayMs?: number
}

export type StopReason = 'end' | 'tools' | 'length' | 'refusal'

export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  /** `input` is an object; a string is a call of a free-form tool, such as Codex's apply_patch. */
  | { readonly kind: 'tool_call'; readonly id: string; readonly name: string; readonly input: unknown }

/** An answer that is an error, told in the words of each API. */
export interface WireFailure {
  readonly status: number
  readonly message: string
  /** The API's own word, such as `overloaded_error`; default: by the status. */
  readonly type?: string
  readonly retryAfterSecs?: number
}
