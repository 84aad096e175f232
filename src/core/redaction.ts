import type { ChunkRedactor } from './redact/chunk-redactor.ts'
import { createRedactor } from './redact.ts'

/** Hides secrets before anything of a run reaches disk or screen. */
export interface Redaction {
  text(text: string): string
  value(value: unknown): unknown
  /** For what people read and pass on: e-mail addresses and the names of users in paths go too. */
  forPeople(value: unknown): unknown
  /** For output that arrives in pieces: a secret that is cut in two is still caught. */
  chunks(): ChunkRedactor
}

const secretName = /key|token|secret|passw|passphrase|credential|auth/i

/** Variables that are handed to somebody, by name. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Built-in patterns, those of the configuration, and the values of every variable whose name says it is secret. */
export function createRedaction(
  patterns: readonly string[],
  ...environments: readonly Variables[]
): Redaction {
  const secrets = environments
    .flatMap((variables) => Object.entries(variables))
    .flatMap(([name, value]) =>
      value !== undefined && value.length >= 8 && secretName.test(name) ? [value] : [],
    )
  const options = { patterns, secrets: [...new Set(secrets)] }
  const { text, value, chunks } = createRedactor(options)
  return { text, value, chunks, forPeople: createRedactor({ ...options, personal: true }).value }
}
