import type { Variables } from '../expand.ts'
import type { ChunkRedactor } from './chunk-redactor.ts'
import { findPersonal } from './find-secrets.ts'
import { redactBy } from './redact-by.ts'

/** Hides secrets before output of a run reaches disk or screen. */
export interface Redaction {
  text(text: string): string
  value(value: unknown): unknown
  /** For shared reports: also hides e-mail addresses and user names in paths. */
  forPeople(value: unknown): unknown
  /** For output that arrives in pieces, including secrets split between two. */
  chunks(): ChunkRedactor
}

/** `createRedaction` without user patterns, so it does not load the pattern engine. */
export function plainRedaction(...environments: readonly Variables[]): Redaction {
  const secrets = secretsIn(environments)
  const { text, value, chunks } = redactBy(secrets)
  return { text, value, chunks, forPeople: redactBy(secrets, [findPersonal]).value }
}

const secretName = /key|token|secret|passw|passphrase|credential|auth/i

/** The values of every variable with a secret's name. */
export function secretsIn(environments: readonly Variables[]): readonly string[] {
  const secrets = environments
    .flatMap((variables) => Object.entries(variables))
    .flatMap(([name, value]) =>
      value !== undefined && value.length >= 8 && secretName.test(name) ? [value] : [],
    )
  return [...new Set(secrets)]
}
