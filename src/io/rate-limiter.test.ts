import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createRateLimiter, type RateClock } from './rate-limiter.ts'

/** Time that passes only when it is slept through. */
const fakeClock = (earlyByMs = 0): RateClock => {
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

test('starts are spaced, in the order in which they were asked for', async () => {
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

test('work that was started runs beside what is started after it', async () => {
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

test('a timer that is early does not let anyone start too soon', async () => {
  const clock = fakeClock(3)
  const limiter = createRateLimiter(10, clock)
  await limiter.take(never)
  await limiter.take(never)
  expect(clock.now()).toBe(100)
})

test('time in which nobody starts is not saved up', async () => {
  const clock = fakeClock()
  const limiter = createRateLimiter(10, clock)
  await limiter.take(never)
  await clock.sleep(10_000, never)
  await limiter.take(never)
  await limiter.take(never)
  expect(clock.now()).toBe(10_100)
})

test('who gives up is told at once and takes no turn from those behind', async () => {
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

test('who gives up in the middle of the wait lets the next one in', async () => {
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

test('without a limit nobody waits, and an aborted caller still does not start', async () => {
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
