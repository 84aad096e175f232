import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Completion } from './provider.ts'
import { backoffMs, completeWithRetries, defaultRetryPolicy, retryWaitMs } from './retry.ts'

const policy = defaultRetryPolicy
const limited: Completion = { kind: 'failure', reason: 'rate_limit', message: 'slow down' }
const answer: Completion = {
  kind: 'answer',
  text: 'ok',
  thinking: '',
  toolCalls: [],
  tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
}

const replay = async (completions: Completion[]) => {
  const waits: number[] = []
  let calls = 0
  const result = await completeWithRetries(
    async () => {
      calls += 1
      return completions[calls - 1] ?? answer
    },
    {
      policy,
      sleep: async (ms) => {
        waits.push(ms)
      },
      random: () => 1,
      signal: new AbortController().signal,
    },
  )
  return { result, waits, calls }
}

test('waits double from one second until there is an answer', async () => {
  const { result, waits } = await replay([limited, { ...limited, reason: 'overloaded' }, limited])
  expect(waits).toEqual([1_000, 2_000, 4_000])
  expect(result).toBe(answer)
})

test('it gives up after five calls', async () => {
  const { result, calls } = await replay(Array<Completion>(9).fill(limited))
  expect(calls).toBe(5)
  expect(result).toBe(limited)
})

test.each(['auth', 'timeout', 'refused', 'context', 'malformed', 'unavailable'] as const)(
  '%s is not tried again',
  async (reason) => {
    expect((await replay([{ ...limited, reason }])).calls).toBe(1)
  },
)

test('the provider decides whether a failure is temporary', async () => {
  expect((await replay([{ ...limited, reason: 'unavailable', passing: true }])).calls).toBe(2)
  expect((await replay([{ ...limited, passing: false }])).calls).toBe(1)
})

test('the requested wait is kept, unless it is too long', () => {
  expect(retryWaitMs({ reason: 'rate_limit', retryAfterMs: 30_000 }, 1, policy, () => 0)).toBe(30_000)
  expect(retryWaitMs({ reason: 'rate_limit', retryAfterMs: 3_600_000 }, 1, policy, () => 0)).toBeNull()
  expect(retryWaitMs({ reason: 'rate_limit', retryAfterMs: 10 }, 3, policy, () => 0)).toBe(2_000)
})

test('jitter stays between half and the whole, and the longest wait is never exceeded', () => {
  fc.assert(
    fc.property(fc.nat(60), fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (retry, draw) => {
      const wait = backoffMs(retry, policy, () => draw)
      const full = Math.min(60_000, 1_000 * 2 ** retry)
      expect(wait).toBeGreaterThanOrEqual(full / 2)
      expect(wait).toBeLessThanOrEqual(full)
    }),
  )
})

test('a policy can have its own multiplier and jitter', () => {
  const policy = { attempts: 4, firstWaitMs: 100, longestWaitMs: 1_000, multiplier: 3, jitter: 0.5 }
  expect([0, 1, 2, 3].map((retry) => backoffMs(retry, policy, () => 0))).toEqual([100, 300, 900, 1_000])
  expect(backoffMs(1, policy, () => 1)).toBe(450)
})
