import { formatPosition, GantryError } from '../../core/error.ts'

/** Something about the cases of a plugin that its author should know. */
export interface CaseProblem {
  /** `error`: the case is skipped. `warning`: it is used, but a part of it has no effect or another effect. */
  readonly severity: 'error' | 'warning'
  /** Absolute. */
  readonly path: string
  /** With `file:line:col` before it where there is such a place. */
  readonly message: string
  readonly hint?: string
}

/** The problem of a file. Anything but a GantryError is a bug and is thrown again. */
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
  const text = `${formatPosition({ file: path })}: ${message}`
  return { severity, path, message: text, ...(hint !== undefined && { hint }) }
}
