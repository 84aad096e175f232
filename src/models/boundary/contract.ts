import type { TokenUsage } from '../../core/trial.ts'
import type { Budget } from '../budget.ts'
import type { PriceTable } from '../pricing.ts'
import type { LedgerRow } from '../usage-rows.ts'
import type { Api, CallKind, ModelCall, Turn, WireFailure } from './call-and-turn.ts'
import type { FaultPlan } from './faults.ts'
import type { WireFormat } from './wire/contract.ts'

export type {
  Api,
  Block,
  CallKind,
  CallMessage,
  ModelCall,
  StopReason,
  Turn,
  WireFailure,
} from './call-and-turn.ts'

/** Where an agent finds its model. */
export interface ModelEndpoint {
  /**
   * `http://127.0.0.1:PORT/TOKEN`. Stands for `https://api.anthropic.com` and for Google's host; OpenAI's clients want
   * `/v1` behind it.
   */
  readonly url: string
  /** What the agent is given for a key. Worth nothing outside this session. */
  readonly key: string
}

/** By these a program that speaks to Anthropic, OpenAI or Google finds the endpoint instead. */
export function endpointVariables({ url, key }: ModelEndpoint): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: key,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: key,
  }
}

/** By these variables programs are told where their provider is, and let in. */
export const providerVariables: readonly string[] = [
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'OPENAI_BASE_URL',
  'OPENAI_API_KEY',
  'GOOGLE_GEMINI_BASE_URL',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
]

/** A loopback server between agents and their models. One serves a whole run; every trial has a session of its own. */
export interface Boundary {
  readonly port: number
  open(options: SessionOptions): BoundarySession
  /** A way in for an agent that lives longer than a session. */
  openLine(): BoundaryLine
  /** Ends the server and every connection. */
  close(): Promise<void>
}

/**
 * One address for sessions that follow each other: the agent keeps it while what answers changes. A call belongs to the session
 * that is open when it arrives, to its end. Between sessions a call is answered with a few words, and counted for nobody.
 */
export interface BoundaryLine {
  readonly endpoint: ModelEndpoint
  /** One at a time: the earlier session must have been closed. */
  open(options: SessionOptions): BoundarySession
  close(): Promise<void>
}

export interface SessionOptions {
  readonly responder: Responder
  readonly faults?: FaultPlan
  /** Charged with what each call costs; a call that it does not allow is refused. Default: no cap. */
  readonly budget?: Budget
  /** The user's prices; they win over the built-in ones. */
  readonly prices?: PriceTable
  /** After every exchange, in the order in which they ended. */
  readonly onExchange?: (exchange: ExchangeFacts) => void
}

export interface BoundarySession {
  readonly endpoint: ModelEndpoint
  /**
   * Aborted when there is no point in going on: with the reason `over_budget` when the cap is reached, `mismatch` when a
   * strict replay met a call it does not know.
   */
  readonly stopped: AbortSignal
  report(): SessionReport
  /** Later calls are refused. Waits for the calls under way. */
  close(): Promise<void>
}

export interface SessionReport {
  readonly exchanges: number
  readonly usage: readonly LedgerRow[]
  /** null = a model without a known price took part, and nothing else. */
  readonly costUsd: number | null
  /** Why the session makes its trial invalid: a call that a cassette does not know, with a diff. */
  readonly problem: string | null
}

/** One call and its answer, as told to whoever watches. Never holds a key. */
export interface ExchangeFacts {
  /** In the order of arrival, from 0. */
  readonly index: number
  readonly api: Api
  readonly model: string
  readonly kind: CallKind
  readonly status: number
  /** null = the answer did not tell. */
  readonly tokens: TokenUsage | null
  readonly costUsd: number | null
  readonly durationMs: number
  /** How it was answered: `script`, `replay`, `record`, `upstream`, `refused`, `fault`. */
  readonly by: string
  /** The name of the fault, when one was played. */
  readonly fault?: string
  /** How long a refusal asks to wait. */
  readonly retryAfterMs?: number
}

/** What answers a call: a script, a cassette, the real provider. */
export interface Responder {
  /** For `ExchangeFacts.by`. */
  readonly name: string
  answer(incoming: IncomingCall): Promise<Reply>
}

export interface IncomingCall {
  /** In the order of arrival, from 0. */
  readonly index: number
  readonly format: WireFormat
  readonly call: ModelCall
  /** The request as it came; the path without the token, with its query. */
  readonly http: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array
  }
  /** Aborted when the agent has gone away. */
  readonly signal: AbortSignal
}

export type Reply =
  | { readonly kind: 'turn'; readonly turn: Turn }
  | { readonly kind: 'failure'; readonly failure: WireFailure }
  /** Sent as it is: from a provider, or from a cassette. `by` overrides the responder's name. */
  | {
      readonly kind: 'verbatim'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>
      readonly by?: string
    }
  /** No answer fits: the session is over, and `problem` says why. */
  | { readonly kind: 'mismatch'; readonly problem: string }
