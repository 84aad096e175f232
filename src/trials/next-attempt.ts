import type { AgentFailure } from '../core/event.ts'
import type { AttemptFailure, RetryPolicy } from './contract.ts'

/** What happened at a trial before its last attempt failed. */
export interface TrialHistory {
  /** All failed attempts. */
  readonly tries: number
  /** Attempts that used up one of `maxRetries`. */
  readonly retries: number
  /** How long the trial has waited for limits. */
  readonly pausedMs: number
}

/** The attempt that follows a failed one. */
export interface NextAttempt {
  /** After a `pause` it does not use up one of `maxRetries`. */
  readonly kind: 'pause' | 'retry'
  readonly waitMs: number
  /** The failure was a limit: all trials of the provider wait. */
  readonly isLimited: boolean
}

/** null when no attempt follows. */
export function nextAttempt(
  failure: AttemptFailure,
  { tries, retries, pausedMs }: TrialHistory,
  policy: RetryPolicy,
  nowMs: number,
): NextAttempt | null {
  if (!policy.mayHelp(failure)) return null
  const isLimited = failure.reason === 'rate_limit' || failure.reason === 'overloaded'
  const asked = failure.retryAfterMs ?? resetsInMs(failure.message, nowMs) ?? 0
  const waitMs = Math.max(asked, isLimited ? policy.limitWaitMs(tries) : policy.retryWaitMs(retries))
  // A limit passes with time, so waiting for it is limited by time and not by a number of attempts.
  if (isLimited && pausedMs + waitMs <= policy.maxPauseMs) return { kind: 'pause', waitMs, isLimited }
  const mayRetry = retries < policy.maxRetries && waitMs <= policy.longestWaitMs
  return mayRetry ? { kind: 'retry', waitMs, isLimited } : null
}

const passing: ReadonlySet<AgentFailure | null> = new Set([
  'rate_limit',
  'overloaded',
  'unavailable',
  'timeout',
])

/** Whether the failure passes with time. It does not when the model does not exist or the key may not use it. */
export function passesWithTime({ reason, message }: AttemptFailure): boolean {
  return passing.has(reason) && !stayingError.test(message)
}

const stayingError =
  /\b(?:API error|status|HTTP|error)\b\D{0,20}\b40[034]\b|not_found_error|may not exist|permission_error/i

/** The message of a usage limit may end with the time at which it is lifted, in seconds since the epoch. */
function resetsInMs(message: string, nowMs: number): number | null {
  const seconds = /limit reached\|(\d{10})\b/i.exec(message)?.[1]
  return seconds === undefined ? null : Math.max(0, Number(seconds) * 1_000 - nowMs)
}
