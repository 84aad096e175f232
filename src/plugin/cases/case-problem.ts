import { formatPosition, GantryError } from '../../core/error.ts'

/** Something about the cases of a plugin that its author should know. */
export interface CaseProblem {
  /** `error`: the case is left out. `warning`: it takes part, and something of it does not act as it is written. */
  readonly severity: 'error' | 'warning'
  /** Absolute. */
  readonly path: string
  /** With `file:line:col` before it where there is such a place. */
  readonly message: string
  readonly hint?: string
}

/** What a file's own error says. Anything else that was thrown is a bug and goes on. */
export function problemOf(error: unknown, path: string): CaseProblem {
  if (!(error instanceof GantryError)) throw error
  return {
    severity: 'error',
    path,
    message: error.message,
    ...(error.hint !== undefined && { hint: error.hint }),
  }
}

export function problem(
  severity: CaseProblem['severity'],
  path: string,
  message: string,
  hint?: string,
): CaseProblem {
  const told = `${formatPosition({ file: path })}: ${message}`
  return { severity, path, message: told, ...(hint !== undefined && { hint }) }
}
