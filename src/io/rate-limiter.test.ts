import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createRateLimiter } from './rate-limiter.ts'
import type { Timer } from './timer.ts'

/** A clock that advances only by sleeping. */
const fakeClock = (earlyByMs = 0): Timer => {
  let nowMs = 0
  let early = earlyByMs
  return {
    now: () => nowMs,
    sleep: async (ms, signal) => {
      await nextTurn()
      signal.throwIfAborted()
      nowMs += ms - early
      early = 0
    },
  }
}

const never = new AbortController().signal

test('starts are spaced, in the order of the calls', async () => {
  const clock = fakeClock()
  const limiter = createRateLimiter(4, clock)
  const starts: [number, number][] = []
  await Promise.all(
    [1, 2, 3, 4].map(async (who) => {
      await limiter.take(never)
      starts.push([who, clock.now()])
    }),
  )
  expect(starts).toEqual([
    [1, 0],
    [2, 250],
    [3, 500],
    [4, 750],
  ])
})

test('started work runs concurrently with later work', async () => {
  const limiter = createRateLimiter(10, fakeClock())
  let running = 0
  let most = 0
  const { promise: allIn, resolve } = Promise.withResolvers<void>()
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      await limiter.take(never)
      running += 1
      most = Math.max(most, running)
      if (running === 5) resolve()
      await allIn
    }),
  )
  expect(most).toBe(5)
})

test('an early timer does not cause an early start', async () => {
  const clock = fakeClock(3)
  const limiter = createRateLimiter(10, clock)
  await limiter.take(never)
  await limiter.take(never)
  expect(clock.now()).toBe(100)
})

test('idle time does not allow a burst later', async () => {
  const clock = fakeClock()
  const limiter = createRateLimiter(10, clock)
  await limiter.take(never)
  await clock.sleep(10_000, never)
  await limiter.take(never)
  await limiter.take(never)
  expect(clock.now()).toBe(10_100)
})

test('an aborted caller is rejected at once and does not delay the next', async () => {
  const clock = fakeClock()
  const limiter = createRateLimiter(10, clock)
  const stop = new AbortController()
  const first = limiter.take(never)
  const second = limiter.take(stop.signal)
  const third = limiter.take(never)
  stop.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  await Promise.all([first, third])
  expect(clock.now()).toBe(100)
})

test('a caller aborted while waiting lets the next one start', async () => {
  const waits: { readonly ms: number; readonly end: () => void }[] = []
  let nowMs = 0
  const limiter = createRateLimiter(10, {
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        waits.push({ ms, end: resolve })
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  })
  const stop = new AbortController()
  await limiter.take(never)
  const second = limiter.take(stop.signal)
  await expect.poll(() => waits.length).toBe(1)
  nowMs = 40
  stop.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  const third = limiter.take(never)
  await expect.poll(() => waits.length).toBe(2)
  expect(waits[1]?.ms).toBe(60)
  nowMs = 100
  waits[1]?.end()
  await third
})

test('without a limit no caller waits, and an aborted caller does not start', async () => {
  const limiter = createRateLimiter(undefined)
  await limiter.take(never)
  await expect(limiter.take(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
})

test('an aborted caller never starts, whether or not it would have to wait', async () => {
  const limiter = createRateLimiter(10, fakeClock())
  await expect(limiter.take(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
})

test('the real clock waits', async () => {
  const limiter = createRateLimiter(1_000)
  await limiter.take(never)
  await limiter.take(never)
  await limiter.take(never)
})
