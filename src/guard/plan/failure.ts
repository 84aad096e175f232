/** Why an attempt at a task was not accepted: what the next one is told, and what a person is told when there is none. */
export interface Failure {
  /** One sentence. */
  readonly reason: string
  /** Last lines of the command that failed, redacted; empty when none did. */
  readonly tail: readonly string[]
}

/** What a checkpoint kept; null when there is none or it is damaged. */
export function failureFrom(value: unknown): Failure | null {
  if (typeof value !== 'object' || value === null || !('reason' in value) || !('tail' in value)) return null
  const { reason, tail } = value
  if (typeof reason !== 'string' || !Array.isArray(tail)) return null
  return { reason, tail: tail.filter((line) => typeof line === 'string') }
}
