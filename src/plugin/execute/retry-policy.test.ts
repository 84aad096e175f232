import { expect, test } from 'vitest'
import type { AgentFailure } from '../../core/event.ts'
import { pluginConfigSchema } from '../config/keys/schema.ts'
import { type FailedTry, retryWaitMs } from './retry-policy.ts'

const { tuning } = pluginConfigSchema.parse({})
const failed = (
  reason: AgentFailure,
  more: Partial<FailedTry> & { readonly message?: string } = {},
): FailedTry => ({
  failure: { reason, message: more.message ?? 'it broke' },
  retryAfterMs: null,
  earlierTries: 0,
  pausedMs: 0,
  ...more,
})
const wait = (one: FailedTry, more: { readonly maxPauseMs?: number; readonly random?: () => number } = {}) =>
  retryWaitMs(one, { tuning, maxPauseMs: 0, nowMs: 1_700_000_000_000, random: () => 0, ...more })

test('waits grow by the multiplier up to the longest, and jitter makes them longer', () => {
  expect([0, 1, 2].map((earlierTries) => wait(failed('unavailable', { earlierTries })))).toEqual([
    1_000, 2_000, 4_000,
  ])
  expect(wait(failed('timeout', { earlierTries: 2 }), { random: () => 1 })).toBe(4_400)
  const patient = { ...tuning, retry: { ...tuning.retry, max_retries: 10 } }
  expect(
    retryWaitMs(failed('unavailable', { earlierTries: 9 }), {
      tuning: patient,
      maxPauseMs: 0,
      nowMs: 0,
      random: () => 0,
    }),
  ).toBe(30_000)
})

test.each(['auth', 'context', 'refused', 'malformed'] as const)('%s is not tried again', (reason) => {
  expect(wait(failed(reason))).toBeNull()
})

test.each([
  'API Error: 404 {"type":"not_found_error"}',
  'API Error: 400 bad',
  'the last call to m was answered with status 403',
  "There's an issue with the selected model (x). It may not exist or you may not have access to it.",
])('a request that stays wrong is not tried again: %s', (message) => {
  expect(wait(failed('unavailable', { message }))).toBeNull()
})

test('tries are counted, but a limit is waited for as long as one may', () => {
  expect(wait(failed('unavailable', { earlierTries: 3 }), { maxPauseMs: 1e9 })).toBeNull()
  expect(wait(failed('rate_limit', { earlierTries: 3 }), { maxPauseMs: 60_000 })).toBe(8_000)
  expect(wait(failed('overloaded', { earlierTries: 3, pausedMs: 55_000 }), { maxPauseMs: 60_000 })).toBeNull()
})

test('what the provider asks for is waited for, if that is allowed', () => {
  expect(wait(failed('rate_limit', { retryAfterMs: 12_000 }))).toBe(12_000)
  expect(wait(failed('rate_limit', { retryAfterMs: 10 }))).toBe(1_000)
  expect(wait(failed('rate_limit', { retryAfterMs: 90_000 }))).toBeNull()
  expect(wait(failed('rate_limit', { retryAfterMs: 90_000 }), { maxPauseMs: 100_000 })).toBe(90_000)
  const message = 'Claude AI usage limit reached|1700000060'
  expect(wait(failed('rate_limit', { message }), { maxPauseMs: 100_000 })).toBe(60_000)
})

test('who wants no retries does not wait either', () => {
  const none = { ...tuning, retry: { ...tuning.retry, max_retries: 0 } }
  expect(
    retryWaitMs(failed('rate_limit'), { tuning: none, maxPauseMs: 1e9, nowMs: 0, random: () => 0 }),
  ).toBeNull()
})
