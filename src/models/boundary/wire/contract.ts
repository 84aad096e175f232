import type { TokenUsage } from '../../../core/trial.ts'
import type { Api, ModelCall, Turn, WireFailure } from '../model-call.ts'

/**
 * One API format: reads requests, writes answers, and reads a provider's answers. Pure. A format
 * - never throws for anything that a client or a provider sends: it ignores what it does not know;
 * - can read what it writes: usage and blocks survive encoding.
 */
export interface WireFormat {
  readonly api: Api
  /** null when it is not a request of this format. `path` without the token and without the query. */
  route(method: string, path: string): WireRoute | null
  /** `body` is the parsed JSON, or `null`. */
  readCall(body: unknown, route: WireRoute): ModelCall
  /** The answer as the provider would send it: streamed when the call requests it. */
  encode(turn: Turn, call: ModelCall, facts: ReplyFacts): EncodedReply
  /** Answers to `count_tokens` and `list_models`. */
  encodeCount(tokens: number): EncodedReply
  encodeModels(models: readonly string[]): EncodedReply
  encodeFailure(failure: WireFailure): EncodedReply
  /** Reads an answer, ours or a provider's, while its bytes pass through. */
  createReader(contentType: string): ReplyReader
  /**
   * Joins adjacent deltas of the same block, so that a text or the arguments of a call are in one piece: a path must be
   * found even when the provider split it. Everything else stays unchanged and in order.
   */
  mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[]
}

export type WireRoute =
  /** Gemini has model and streaming in the path; others in the body. */
  | { readonly kind: 'generate'; readonly model?: string; readonly stream?: boolean }
  | { readonly kind: 'count_tokens'; readonly model?: string }
  | { readonly kind: 'list_models' }

export interface ReplyFacts {
  /** Unique in the session and the same in every replay: message ids are derived from it. */
  readonly id: string
  /** Seconds since the epoch. */
  readonly created: number
}

export interface EncodedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** One per event of a stream; a JSON body is one chunk. */
  readonly chunks: readonly string[]
}

export interface SseEvent {
  /** The `event:` line, where there is one. */
  readonly event?: string
  /** The `data:` lines, joined. */
  readonly data: string
}

export interface ReplyReader {
  push(chunk: Uint8Array | string): void
  /** After the last byte. */
  end(): ReplyReading
}

export interface ReplyReading {
  /** null when it was not reported. */
  readonly model: string | null
  /** null when it was not reported. */
  readonly tokens: TokenUsage | null
  readonly text: string
  readonly thinking: string
  readonly toolCalls: readonly {
    readonly id: string | null
    readonly name: string
    readonly input: unknown
  }[]
  /** Whether the answer ended as the format requires. A cut stream did not. */
  readonly complete: boolean
  /** The provider's error, if the answer was one. */
  readonly error: { readonly type: string | null; readonly message: string } | null
}
