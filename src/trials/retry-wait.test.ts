import { describe, expect, test } from 'vitest'
import type { AgentFailure } from '../core/event.ts'
import { backoffMs } from '../models/retry.ts'
import type { RetryPolicy } from './contract.ts'
import { type FailedAttempt, retryWaitMs } from './retry-wait.ts'

interface Failed {
  readonly message?: string
  readonly retryAfterMs?: number
  readonly earlierTries?: number
  readonly pausedMs?: number
}
const failed = (reason: AgentFailure | null, more: Failed = {}): FailedAttempt => ({
  failure: { reason, message: more.message ?? 'it broke', retryAfterMs: more.retryAfterMs ?? null },
  earlierTries: more.earlierTries ?? 0,
  pausedMs: more.pausedMs ?? 0,
})
const waits = { attempts: 4, firstWaitMs: 1_000, longestWaitMs: 30_000, jitter: 0.1 }
const policy = (more: Partial<RetryPolicy> = {}, random = () => 0): RetryPolicy & { nowMs: number } => ({
  mode: 'passing_failures',
  maxRetries: 3,
  maxPauseMs: 0,
  longestWaitMs: waits.longestWaitMs,
  backoffMs: (retry) => backoffMs(retry, waits, random),
  nowMs: 1_700_000_000_000,
  ...more,
})

describe('after failures that pass with time', () => {
  test('waits grow up to the longest, and jitter makes them longer', () => {
    const wait = (earlierTries: number) => retryWaitMs(failed('unavailable', { earlierTries }), policy())
    expect([0, 1, 2].map(wait)).toEqual([1_000, 2_000, 4_000])
    expect(
      retryWaitMs(
        failed('timeout', { earlierTries: 2 }),
        policy({}, () => 1),
      ),
    ).toBe(4_400)
    expect(retryWaitMs(failed('unavailable', { earlierTries: 9 }), policy({ maxRetries: 10 }))).toBe(30_000)
  })

  test.each(['auth', 'context', 'refused', 'malformed'] as const)('%s is not tried again', (reason) => {
    expect(retryWaitMs(failed(reason), policy())).toBeNull()
  })

  test.each([
    'API Error: 404 {"type":"not_found_error"}',
    'API Error: 400 bad',
    'the last call to m was answered with status 403',
    "There's an issue with the selected model (x). It may not exist or you may not have access to it.",
  ])('a request that stays wrong is not tried again: %s', (message) => {
    expect(retryWaitMs(failed('unavailable', { message }), policy())).toBeNull()
  })

  test('retries are counted, but a limit is waited for as long as the policy allows', () => {
    expect(retryWaitMs(failed('unavailable', { earlierTries: 3 }), policy({ maxPauseMs: 1e9 }))).toBeNull()
    expect(retryWaitMs(failed('rate_limit', { earlierTries: 3 }), policy({ maxPauseMs: 60_000 }))).toBe(8_000)
    expect(
      retryWaitMs(
        failed('overloaded', { earlierTries: 3, pausedMs: 55_000 }),
        policy({ maxPauseMs: 60_000 }),
      ),
    ).toBeNull()
  })

  test('what the provider asks for is waited for, if that is allowed', () => {
    const limited = (retryAfterMs: number) => failed('rate_limit', { retryAfterMs })
    expect(retryWaitMs(limited(12_000), policy())).toBe(12_000)
    expect(retryWaitMs(limited(10), policy())).toBe(1_000)
    expect(retryWaitMs(limited(90_000), policy())).toBeNull()
    expect(retryWaitMs(limited(90_000), policy({ maxPauseMs: 100_000 }))).toBe(90_000)
    const message = 'Claude AI usage limit reached|1700000060'
    expect(retryWaitMs(failed('rate_limit', { message }), policy({ maxPauseMs: 100_000 }))).toBe(60_000)
  })

  test('without retries and pauses no attempt follows', () => {
    expect(retryWaitMs(failed('rate_limit'), policy({ maxRetries: 0 }))).toBeNull()
  })
})

describe('after every failure', () => {
  const every = (more: Partial<RetryPolicy> = {}) => policy({ mode: 'every_failure', ...more })

  test.each(['auth', 'unavailable', null] as const)('%s is tried again at once', (reason) => {
    expect(retryWaitMs(failed(reason, { earlierTries: 2 }), every())).toBe(0)
    expect(retryWaitMs(failed(reason, { earlierTries: 3 }), every())).toBeNull()
  })

  test('a limit is waited for even without retries, and only as long as the policy allows', () => {
    expect(retryWaitMs(failed('rate_limit'), every({ maxRetries: 0, maxPauseMs: 60_000 }))).toBe(1_000)
    expect(retryWaitMs(failed('overloaded'), every({ maxPauseMs: 100 }))).toBeNull()
  })
})
