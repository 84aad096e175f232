import type { AgentFailure } from '../../core/event.ts'
import type { PluginConfig } from '../config/keys/schema.ts'

export interface FailedTry {
  readonly failure: { readonly reason: AgentFailure; readonly message: string }
  /** What the provider asked to wait; null when it did not say. */
  readonly retryAfterMs: number | null
  /** Tries before this one. */
  readonly earlierTries: number
  /** What this trial has waited for limits already. */
  readonly pausedMs: number
}

export interface RetryRules {
  readonly tuning: Pick<PluginConfig['tuning'], 'retry' | 'timeouts'>
  /** How long one trial may wait in all for a limit of its provider to pass. */
  readonly maxPauseMs: number
  readonly nowMs: number
  readonly random: () => number
}

/** Why nothing may be wrong with the request: another try may well succeed. */
const passing: ReadonlySet<AgentFailure> = new Set(['rate_limit', 'overloaded', 'unavailable', 'timeout'])
/** Limits that pass with time: waiting for them is not limited by a number of tries. */
const limits: ReadonlySet<AgentFailure> = new Set(['rate_limit', 'overloaded'])

/** How long to wait before the next try; null when there is to be none. */
export function retryWaitMs(failed: FailedTry, rules: RetryRules): number | null {
  const { failure, earlierTries, pausedMs } = failed
  if (!passing.has(failure.reason) || isFinal(failure.message)) return null
  const { retry, timeouts } = rules.tuning
  const grown = timeouts.retry_initial_ms * retry.backoff_multiplier ** earlierTries
  const backoff = Math.min(grown, timeouts.retry_max_ms)
  const asked = failed.retryAfterMs ?? resetsInMs(failure.message, rules.nowMs)
  const waitMs = Math.round(Math.max(asked ?? 0, backoff + backoff * retry.jitter_factor * rules.random()))
  const mayTry = earlierTries < retry.max_retries && (asked === null || asked <= timeouts.retry_max_ms)
  const mayPause = limits.has(failure.reason) && pausedMs + waitMs <= rules.maxPauseMs
  // Without a retry at all nobody wants to wait either.
  return retry.max_retries > 0 && (mayTry || mayPause) ? waitMs : null
}

/** A model that does not exist, or that this key may not use, will not exist in a minute. */
function isFinal(message: string): boolean {
  return /\b(?:API error|status|HTTP|error)\b\D{0,20}\b40[034]\b|not_found_error|may not exist|permission_error/i.test(
    message,
  )
}

/** A usage limit may tell when it ends, in seconds since the epoch. */
function resetsInMs(message: string, nowMs: number): number | null {
  const seconds = /limit reached\|(\d{10})\b/i.exec(message)?.[1]
  return seconds === undefined ? null : Math.max(0, Number(seconds) * 1_000 - nowMs)
}
