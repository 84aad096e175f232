/** The system's word for what went wrong, such as ECONNRESET: the first one found on the way from the error to its causes. */
export function errorCode(error: unknown): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code
    // Node tries every address of a host and gathers the failures.
    if (at instanceof AggregateError && at.errors.length > 0) return errorCode(at.errors[0])
  }
  return null
}
