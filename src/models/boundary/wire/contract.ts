import type { TokenUsage } from '../../../core/trial.ts'
import type { Api, ModelCall, Turn, WireFailure } from '../call-and-turn.ts'

/**
 * One way of speaking to a model: how a request is read, how an answer is written, and how a provider's answer is
 * understood. Pure: bytes and words in, words and bytes out. A member promises
 * - never to throw for what a client or a provider sends: what it does not know it leaves alone;
 * - that its own reader understands what it has written: usage and blocks survive the way through the wire.
 */
export interface WireFormat {
  readonly api: Api
  /** null: not a request of this format. `path` without the token and without the query. */
  route(method: string, path: string): WireRoute | null
  /** `body` is the parsed JSON, `null` when there is none. */
  readCall(body: unknown, route: WireRoute): ModelCall
  /** The answer as the provider would send it: streamed when the call asks for it. */
  encode(turn: Turn, call: ModelCall, facts: ReplyFacts): EncodedReply
  /** Answers to `count_tokens` and `list_models`. */
  encodeCount(tokens: number): EncodedReply
  encodeModels(models: readonly string[]): EncodedReply
  encodeFailure(failure: WireFailure): EncodedReply
  /** Understands an answer, ours or a provider's, as its bytes pass by. */
  createReader(contentType: string): ReplyReader
  /**
   * Joins neighbouring deltas of the same block into one, so that a text or the arguments of a call stand in one piece: a
   * path must be found even when the provider cut it in two. Everything else stays as it is, in its order.
   */
  mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[]
}

export type WireRoute =
  /** Gemini says model and streaming in the path; others in the body. */
  | { readonly kind: 'generate'; readonly model?: string; readonly stream?: boolean }
  | { readonly kind: 'count_tokens'; readonly model?: string }
  | { readonly kind: 'list_models' }

export interface ReplyFacts {
  /** Unique in the session and the same in every replay: ids of messages are made of it. */
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
  /** null = it did not say. */
  readonly model: string | null
  /** null = it did not say. */
  readonly tokens: TokenUsage | null
  readonly text: string
  readonly thinking: string
  readonly toolCalls: readonly {
    readonly id: string | null
    readonly name: string
    readonly input: unknown
  }[]
  /** Did the answer end as the format demands? A cut stream did not. */
  readonly complete: boolean
  /** The provider's error, when the answer was one. */
  readonly error: { readonly type: string | null; readonly message: string } | null
}
