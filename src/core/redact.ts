import { findPattern } from './redact/find-pattern.ts'
import { findPersonal } from './redact/find-personal.ts'
import { redactBy } from './redact/redact-by.ts'
import type { Redactor } from './redact/redactor.ts'

export type { Redactor } from './redact/redactor.ts'

export interface RedactorOptions {
  /** Values known to be secret, for example those of environment variables. Shorter than six characters are passed over. */
  readonly secrets?: readonly string[]
  /** Patterns the user wrote, in RE2 syntax; each match goes whole. */
  readonly patterns?: readonly string[]
  /**
   * Also hide what points to a person: e-mail addresses and user names in home paths. For reports and logs that
   * people pass on; off by default, because run directories lie under the home directory and the paths we
   * print and store must stay usable.
   */
  readonly personal?: boolean
}

/** Throws GantryError USAGE for a pattern that does not parse. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const personal = options.personal === true ? [findPersonal] : []
  return redactBy(options.secrets ?? [], [...personal, ...(options.patterns ?? []).map(findPattern)])
}
