import type { AgentFailure } from '../core/event.ts'
import type { AttemptFailure, RetryPolicy } from './contract.ts'

export interface FailedAttempt {
  readonly failure: AttemptFailure
  readonly earlierTries: number
  /** What this trial has waited for limits already. */
  readonly pausedMs: number
}

/** Nothing may be wrong with the request: another attempt may well succeed. */
const passing: ReadonlySet<AgentFailure | null> = new Set([
  'rate_limit',
  'overloaded',
  'unavailable',
  'timeout',
])

/** How long to wait before the next attempt; null when none follows. */
export function retryWaitMs(
  { failure, earlierTries, pausedMs }: FailedAttempt,
  policy: RetryPolicy & { readonly nowMs: number },
): number | null {
  const { mode, maxRetries, maxPauseMs, longestWaitMs, nowMs } = policy
  if (mode === 'passing_failures' && (!passing.has(failure.reason) || isFinal(failure.message))) return null
  if (mode === 'every_failure' && !isLimit(failure)) return earlierTries < maxRetries ? 0 : null
  const asked = failure.retryAfterMs ?? resetsInMs(failure.message, nowMs)
  const waitMs = Math.max(asked ?? 0, policy.backoffMs(earlierTries))
  const mayPause = isLimit(failure) && pausedMs + waitMs <= maxPauseMs
  const mayRetry =
    mode === 'passing_failures' && earlierTries < maxRetries && (asked === null || asked <= longestWaitMs)
  return mayPause || mayRetry ? waitMs : null
}

/** A limit passes with time: waiting for it is bounded by time and not by a number of attempts. */
export function isLimit({ reason }: AttemptFailure): boolean {
  return reason === 'rate_limit' || reason === 'overloaded'
}

/** A model that does not exist, or that this key may not use, will not exist in a minute. */
function isFinal(message: string): boolean {
  return /\b(?:API error|status|HTTP|error)\b\D{0,20}\b40[034]\b|not_found_error|may not exist|permission_error/i.test(
    message,
  )
}

/** The message of a usage limit may end with the time at which it is lifted, in seconds since the epoch. */
function resetsInMs(message: string, nowMs: number): number | null {
  const seconds = /limit reached\|(\d{10})\b/i.exec(message)?.[1]
  return seconds === undefined ? null : Math.max(0, Number(seconds) * 1_000 - nowMs)
}
