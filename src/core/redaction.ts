import type { Variables } from './expand.ts'
import { type Redaction, secretsIn } from './redact/plain-redaction.ts'
import { createRedactor } from './redactor.ts'

export type { Redaction } from './redact/plain-redaction.ts'

/** Hides built-in patterns, those of the configuration, and the values of every variable with a secret's name. */
export function createRedaction(
  patterns: readonly string[],
  ...environments: readonly Variables[]
): Redaction {
  const options = { patterns, secrets: secretsIn(environments) }
  const { text, value, chunks } = createRedactor(options)
  return { text, value, chunks, forPeople: createRedactor({ ...options, personal: true }).value }
}
