import type { TokenUsage } from '../../core/trial.ts'

export type Api = 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini'

/** The provider that defined each format. */
export const providerOf = {
  anthropic: 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  gemini: 'google',
} as const satisfies Record<Api, string>

/** `turn`: the agent's work. `side`: a call without tools (titles, summaries). `compaction`: summarizes the history. */
export type CallKind = 'turn' | 'side' | 'compaction' | 'count_tokens' | 'list_models'

/** A request that needs no model: it is free and no fault applies to it. */
export function isSideRequest(kind: CallKind): boolean {
  return kind === 'count_tokens' || kind === 'list_models'
}

/** A request to a model in any API format. Only the fields below are read, and nothing else is validated: beta fields change often. */
export interface ModelCall {
  readonly api: Api
  readonly kind: CallKind
  readonly model: string
  readonly stream: boolean
  /** All system text, joined by newlines. */
  readonly system: string
  readonly messages: readonly CallMessage[]
  /** Names of the offered tools. */
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

export interface Turn {
  readonly blocks: readonly Block[]
  readonly stop: StopReason
  readonly usage: TokenUsage
  /** Default: the requested model. */
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
  /** `input` is an object; a string is the input of a free-form tool, such as Codex's apply_patch. */
  | { readonly kind: 'tool_call'; readonly id: string; readonly name: string; readonly input: unknown }

/** An error answer, which each API format encodes in its own way. */
export interface WireFailure {
  readonly status: number
  readonly message: string
  /** The API's error type, such as `overloaded_error`; default: by the status. */
  readonly type?: string
  readonly retryAfterSecs?: number
}
