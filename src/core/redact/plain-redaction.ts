import type { ChunkRedactor } from './chunk-redactor.ts'
import { findPersonal } from './find-secrets.ts'
import { redactBy } from './redact-by.ts'

/** Hides secrets before anything of a run reaches disk or screen. */
export interface Redaction {
  text(text: string): string
  value(value: unknown): unknown
  /** For what people read and pass on: e-mail addresses and the names of users in paths go too. */
  forPeople(value: unknown): unknown
  /** For output that arrives in pieces: a secret that is cut in two is still caught. */
  chunks(): ChunkRedactor
}

/** Variables of an environment, by name. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Built-in patterns and the secrets among the variables, as `createRedaction` without patterns. Loads no engine for those. */
export function plainRedaction(...environments: readonly Variables[]): Redaction {
  const secrets = secretsIn(environments)
  const { text, value, chunks } = redactBy(secrets)
  return { text, value, chunks, forPeople: redactBy(secrets, [findPersonal]).value }
}

const secretName = /key|token|secret|passw|passphrase|credential|auth/i

/** The values of every variable whose name says it is secret. */
export function secretsIn(environments: readonly Variables[]): readonly string[] {
  const secrets = environments
    .flatMap((variables) => Object.entries(variables))
    .flatMap(([name, value]) =>
      value !== undefined && value.length >= 8 && secretName.test(name) ? [value] : [],
    )
  return [...new Set(secrets)]
}
