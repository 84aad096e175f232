import type { TokenUsage } from '../../core/trial.ts'
import type { Budget } from '../budget.ts'
import type { PriceTable } from '../price-table.ts'
import type { LedgerRow } from '../usage-rows.ts'
import type { FaultPlan } from './faults.ts'
import type { Api, CallKind, ModelCall, Turn, WireFailure } from './model-call.ts'
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
} from './model-call.ts'

/** Where an agent finds its model. */
export interface ModelEndpoint {
  /**
   * `http://127.0.0.1:PORT/TOKEN`. Replaces `https://api.anthropic.com` and Google's host; OpenAI's clients need `/v1`
   * after it.
   */
  readonly url: string
  /** The agent's API key. Valid only in this session. */
  readonly key: string
}

/** Environment variables that make clients of Anthropic, OpenAI and Google use the endpoint. */
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

/** The variables from which clients read the address of their provider and their key. */
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

/** A loopback server between agents and their models. One serves a whole run; every trial has its own session. */
export interface Boundary {
  readonly port: number
  open(options: SessionOptions): BoundarySession
  /** An address for an agent that lives longer than a session. */
  openLine(): BoundaryLine
  /** Closes the server and every connection. */
  close(): Promise<void>
}

/**
 * One address for consecutive sessions: the agent keeps it while the responder changes. A call belongs to the session
 * that is open when it arrives. Between sessions a call gets a short answer and is not counted.
 */
export interface BoundaryLine {
  readonly endpoint: ModelEndpoint
  /** One at a time: the previous session must be closed. */
  open(options: SessionOptions): BoundarySession
  close(): Promise<void>
}

export interface SessionOptions {
  readonly responder: Responder
  readonly faults?: FaultPlan
  /** Charged with the cost of each call; a call that it does not allow is refused. Default: no cap. */
  readonly budget?: Budget
  /** The user's prices; they override the built-in ones. */
  readonly prices?: PriceTable
  /** Called after every exchange, in the order in which they ended. */
  readonly onExchange?: (exchange: ExchangeFacts) => void
}

export interface BoundarySession {
  readonly endpoint: ModelEndpoint
  /**
   * Aborted when continuing is pointless: with the reason `over_budget` when the cap is reached, `mismatch` when a
   * strict replay gets an unknown call.
   */
  readonly stopped: AbortSignal
  report(): SessionReport
  /** Refuses later calls. Waits for running calls. */
  close(): Promise<void>
}

export interface SessionReport {
  readonly exchanges: number
  readonly usage: readonly LedgerRow[]
  /** null when only models without a known price were called. */
  readonly costUsd: number | null
  /** Why the session makes its trial invalid: a call that the cassette does not contain, with a diff. */
  readonly problem: string | null
}

/** One call and its answer, for observers. Never contains a key. */
export interface ExchangeFacts {
  /** In the order of arrival, from 0. */
  readonly index: number
  readonly api: Api
  readonly model: string
  readonly kind: CallKind
  readonly status: number
  /** null when the answer did not report it. */
  readonly tokens: TokenUsage | null
  readonly costUsd: number | null
  readonly durationMs: number
  /** How it was answered: `script`, `replay`, `record`, `upstream`, `refused`, `fault`. */
  readonly by: string
  /** The name of the fault that was injected. */
  readonly fault?: string
  /** The requested wait of a refusal. */
  readonly retryAfterMs?: number
}

/** The source of answers: a script, a cassette, the real provider. */
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
  /** The original request; the path without the token, with its query. */
  readonly http: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array
  }
  /** Aborted when the agent has disconnected. */
  readonly signal: AbortSignal
}

export type Reply =
  | { readonly kind: 'turn'; readonly turn: Turn }
  | { readonly kind: 'failure'; readonly failure: WireFailure }
  /** Sent unchanged: from a provider, or from a cassette. `by` overrides the responder's name. */
  | {
      readonly kind: 'verbatim'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>
      readonly by?: string
    }
  /** No answer matches: the session is over, and `problem` explains why. */
  | { readonly kind: 'mismatch'; readonly problem: string }
