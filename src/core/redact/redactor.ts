import type { ChunkRedactor } from './chunk-redactor.ts'

/**
 * Secrets are always redacted, before anything reaches disk or screen. Redacting twice changes nothing more, and time
 * grows with the length of the text only, whatever it contains.
 */
export interface Redactor {
  text(text: string): string
  /** JSON-like data, deep; what needs no change is returned as it is. */
  value<T>(value: T): T
  /** For text that arrives in pieces. */
  chunks(): ChunkRedactor
}
