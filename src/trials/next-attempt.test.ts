import { describe, expect, test } from 'vitest'
import type { AgentFailure } from '../core/event.ts'
import { backoffMs } from '../models/retry.ts'
import type { AttemptFailure, RetryPolicy } from './contract.ts'
import { nextAttempt, passesWithTime, type TrialHistory } from './next-attempt.ts'

const nowMs = 1_700_000_000_000
const failed = (reason: AgentFailure | null, more: Partial<AttemptFailure> = {}): AttemptFailure => ({
  reason,
  message: 'it broke',
  retryAfterMs: null,
  ...more,
})
const waits = { attempts: 4, firstWaitMs: 1_000, longestWaitMs: 30_000, jitter: 0.1 }
/** Waits before every attempt, and makes none after a failure that stays. */
const patient = (more: Partial<RetryPolicy> = {}, random = () => 0): RetryPolicy => ({
  mayHelp: passesWithTime,
  maxRetries: 3,
  maxPauseMs: 0,
  longestWaitMs: waits.longestWaitMs,
  retryWaitMs: (retry) => backoffMs(retry, waits, random),
  limitWaitMs: (tries) => backoffMs(tries, waits, random),
  ...more,
})
const waitMs = (failure: AttemptFailure, policy: RetryPolicy, history: Partial<TrialHistory> = {}) =>
  nextAttempt(failure, { tries: 0, retries: 0, pausedMs: 0, ...history }, policy, nowMs)?.waitMs ?? null

describe('after failures that pass with time', () => {
  test('waits grow up to the longest, and jitter makes them longer', () => {
    const wait = (retries: number) => waitMs(failed('unavailable'), patient(), { tries: retries, retries })
    expect([0, 1, 2].map(wait)).toEqual([1_000, 2_000, 4_000])
    expect(
      waitMs(
        failed('timeout'),
        patient({}, () => 1),
        { tries: 2, retries: 2 },
      ),
    ).toBe(4_400)
    expect(waitMs(failed('unavailable'), patient({ maxRetries: 10 }), { retries: 9 })).toBe(30_000)
  })

  test.each(['auth', 'context', 'refused', 'malformed'] as const)('%s is not tried again', (reason) => {
    expect(waitMs(failed(reason), patient())).toBeNull()
  })

  test.each([
    'API Error: 404 {"type":"not_found_error"}',
    'API Error: 400 bad',
    'the last call to m was answered with status 403',
    "There's an issue with the selected model (x). It may not exist or you may not have access to it.",
  ])('a request that stays wrong is not tried again: %s', (message) => {
    expect(waitMs(failed('unavailable', { message }), patient())).toBeNull()
  })

  test('retries are counted, but a limit is waited for as long as the policy allows', () => {
    const often = { tries: 3, retries: 3 }
    expect(waitMs(failed('unavailable'), patient({ maxPauseMs: 1e9 }), often)).toBeNull()
    expect(waitMs(failed('rate_limit'), patient({ maxPauseMs: 60_000 }), often)).toBe(8_000)
    expect(
      waitMs(failed('overloaded'), patient({ maxPauseMs: 60_000 }), { ...often, pausedMs: 55_000 }),
    ).toBeNull()
  })

  test('waits as long as the provider asks, if that is allowed', () => {
    const limited = (retryAfterMs: number) => failed('rate_limit', { retryAfterMs })
    expect(waitMs(limited(12_000), patient())).toBe(12_000)
    expect(waitMs(limited(10), patient())).toBe(1_000)
    expect(waitMs(limited(90_000), patient())).toBeNull()
    expect(waitMs(limited(90_000), patient({ maxPauseMs: 100_000 }))).toBe(90_000)
    const message = 'Claude AI usage limit reached|1700000060'
    expect(waitMs(failed('rate_limit', { message }), patient({ maxPauseMs: 100_000 }))).toBe(60_000)
  })

  test('without retries and pauses no attempt follows', () => {
    expect(waitMs(failed('rate_limit'), patient({ maxRetries: 0 }))).toBeNull()
  })
})

describe('after every failure', () => {
  const every = (more: Partial<RetryPolicy> = {}) =>
    patient({ mayHelp: () => true, longestWaitMs: 0, retryWaitMs: () => 0, ...more })

  test.each(['auth', 'unavailable', null] as const)('%s is tried again at once', (reason) => {
    expect(waitMs(failed(reason), every(), { retries: 2 })).toBe(0)
    expect(waitMs(failed(reason), every(), { retries: 3 })).toBeNull()
  })

  test('a limit is waited for even without retries, and only as long as the policy allows', () => {
    expect(waitMs(failed('rate_limit'), every({ maxRetries: 0, maxPauseMs: 60_000 }))).toBe(1_000)
    expect(waitMs(failed('overloaded'), every({ maxPauseMs: 100 }))).toBeNull()
  })
})

test('attempts after a wait for a limit do not use up retries', () => {
  const policy = patient({ maxRetries: 1, maxPauseMs: 60_000 })
  expect(nextAttempt(failed('rate_limit'), { tries: 0, retries: 0, pausedMs: 0 }, policy, nowMs)?.kind).toBe(
    'pause',
  )
  expect(waitMs(failed('unavailable'), policy, { tries: 5, retries: 0 })).toBe(1_000)
})
