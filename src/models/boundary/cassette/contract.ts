import type { TokenUsage } from '../../../core/trial.ts'
import type { Api, CallKind, Responder } from '../contract.ts'
import type { RecordedDirectories } from './recorded-directories.ts'

/** A recording of what passed between an agent and its model: a directory a person can read. */
export interface Cassette {
  /** Answers from the recording, records, or both, as the mode says. */
  readonly responder: Responder
  /**
   * Makes the recording whole. Until then it is marked incomplete, and in mode `record` an older one stays in its place.
   * Throws what went wrong while exchanges were written, a full disk for one: the agent was not told. Safe to call twice.
   */
  finish(): void
  /** Gives up what was recorded in mode `record`, and the lock. What `auto` has added stays, as incomplete. */
  abandon(): void
  summary(): CassetteSummary
}

/** As `--replay` says, without `off`. */
export type CassetteMode = 'record' | 'auto' | 'strict'

export interface CassetteOptions {
  readonly dir: string
  readonly mode: CassetteMode
  /** Where this trial works: other directories than those of the recording. */
  readonly places: RecordedDirectories
  /** What is asked when the recording has no answer; never asked in mode `strict`. */
  readonly upstream: Responder | null
  /** Hides secrets; doing it twice changes nothing more. */
  readonly redact: (text: string) => string
  /** Kept in `cassette.json`: agent, version, model, whatever tells people what this is. */
  readonly facts: Readonly<Record<string, unknown>>
  /** Milliseconds since the epoch; default: the clock of the machine. */
  readonly now?: () => number
}

export interface CassetteSummary {
  readonly recorded: number
  /** Answers given from the recording, repeated ones counted each time. */
  readonly replayed: number
  /** Exchanges of the recording that nobody asked for. */
  readonly unused: number
}

/** A cassette for people: what was asked, what came back. */
export interface CassetteContent {
  readonly dir: string
  readonly gantryVersion: string
  /** ISO 8601. */
  readonly recordedAt: string
  readonly facts: Readonly<Record<string, unknown>>
  /** False when the recording was broken off. */
  readonly complete: boolean
  readonly exchanges: readonly ExchangeView[]
}

export interface ExchangeView {
  /** From 1, as the file is named. */
  readonly index: number
  readonly api: Api
  readonly kind: CallKind
  readonly model: string
  /** One line about the last message of the request. */
  readonly lastMessage: string
  readonly status: number
  readonly text: string
  readonly toolCalls: readonly { readonly name: string; readonly input: unknown }[]
  /** null = the answer did not tell. */
  readonly tokens: TokenUsage | null
}
