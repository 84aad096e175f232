import { setTimeout as wait } from 'node:timers/promises'
import { monotonicMs } from './clock.ts'

/** Spaces the starts of work. What is started runs for as long as it likes, beside what is started later. */
export interface RateLimiter {
  /** Resolves when it is the caller's turn to start, in the order of the calls. Rejects with the signal's reason, and gives its turn up. */
  take(signal: AbortSignal): Promise<void>
}

export interface RateClock {
  now(): number
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

const realClock: RateClock = {
  now: monotonicMs,
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
}

/** Never more than so many starts per second, and never two at once; undefined = no limit. */
export function createRateLimiter(
  perSecond: number | undefined,
  { now, sleep }: RateClock = realClock,
): RateLimiter {
  if (perSecond === undefined) return { take: async (signal) => signal.throwIfAborted() }
  const gapMs = 1_000 / perSecond
  let nextMs = Number.NEGATIVE_INFINITY
  let lastInLine: Promise<void> = Promise.resolve()
  const turn = async (before: Promise<void>, signal: AbortSignal): Promise<void> => {
    await before
    signal.throwIfAborted()
    // A timer may be early, and an early start would be one too many.
    for (let leftMs = nextMs - now(); leftMs > 0; leftMs = nextMs - now()) await sleep(leftMs, signal)
    nextMs = now() + gapMs
  }
  return {
    take: (signal) => {
      const mine = turn(lastInLine, signal)
      // Whoever is next waits for this start, or for its being given up.
      lastInLine = mine.catch(() => {})
      return orAborted(mine, signal)
    },
  }
}

/** The turn itself ends only when those before it have started; the caller gets the rejection at once. */
async function orAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([aborted.promise, turn])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
