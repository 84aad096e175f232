import type { ChunkRedactor } from '../core/redact/chunk-redactor.ts'
import { createRedactor } from '../core/redact.ts'

/** Hides secrets before anything of a run reaches disk or screen. */
export interface Redaction {
  text(text: string): string
  value(value: unknown): unknown
  /** For output that arrives in pieces: a secret that is cut in two is still caught. */
  chunks(): ChunkRedactor
}

const secretName = /key|token|secret|passw|credential|auth/i

/** Built-in patterns, those of the configuration, and the values of every variable whose name says it is secret. */
export function createRedaction(
  patterns: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Redaction {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= 8 && secretName.test(name) ? [value] : [],
  )
  return createRedactor({ patterns, secrets })
}
