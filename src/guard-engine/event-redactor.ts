import { redactBy } from '../core/redact/redact-by.ts'
import type { Redactor } from '../core/redact/redactor.ts'

const secretName = /key|token|secret|passw|passphrase|credential|auth/i

/** Hides what looks like a secret, and the values of variables that are called one. */
export function eventRedactor(env: Readonly<Record<string, string | undefined>>): Redactor {
  const values = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= 8 && secretName.test(name) ? [value] : [],
  )
  return redactBy([...new Set(values)])
}
