import type { ExchangeFacts, Responder } from '../contract.ts'
import type { RecordedDirectories } from './recorded-directories.ts'

/** The value of `--replay`, without `off`. */
export type CassetteMode = 'record' | 'auto' | 'strict'

export interface CassetteOptions {
  readonly dir: string
  readonly mode: CassetteMode
  /** The directories of this trial, which differ from those of the recording. */
  readonly places: RecordedDirectories
  /** Answers calls that the recording does not contain; never used in mode `strict`. */
  readonly upstream: Responder | null
  /** Hides secrets. Idempotent. */
  readonly redact: (text: string) => string
  /** Stored in `cassette.json` for people: agent, version, model and so on. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** A cassette for display: the requests and answers. */
export interface CassetteContent {
  readonly dir: string
  readonly gantryVersion: string
  /** ISO 8601. */
  readonly recordedAt: string
  readonly facts: Readonly<Record<string, unknown>>
  /** False when the recording was interrupted. */
  readonly complete: boolean
  readonly exchanges: readonly ExchangeView[]
}

export interface ExchangeView extends Pick<ExchangeFacts, 'api' | 'kind' | 'model' | 'status' | 'tokens'> {
  /** From 1, as the file is named. */
  readonly index: number
  /** One line about the last message of the request. */
  readonly lastMessage: string
  readonly text: string
  readonly toolCalls: readonly { readonly name: string; readonly input: unknown }[]
}
