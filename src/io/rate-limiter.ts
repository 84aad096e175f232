import { addAbortListener } from 'node:events'
import { systemTimer, type Timer } from './timer.ts'

/** Limits the rate of starts. Started work may overlap. */
export interface RateLimiter {
  /** Resolves when the caller may start, in the order of the calls. Rejects with the signal's reason and gives up its turn. */
  take(signal: AbortSignal): Promise<void>
}

/** Limits the starts per second, never two at once; undefined = no limit. */
export function createRateLimiter(
  perSecond: number | undefined,
  { now, sleep }: Timer = systemTimer,
): RateLimiter {
  if (perSecond === undefined) return { take: async (signal) => signal.throwIfAborted() }
  const gapMs = 1_000 / perSecond
  let nextMs = Number.NEGATIVE_INFINITY
  let lastInLine: Promise<void> = Promise.resolve()
  const turn = async (before: Promise<void>, signal: AbortSignal): Promise<void> => {
    await before
    signal.throwIfAborted()
    // A timer may fire early, which would exceed the limit.
    for (let leftMs = nextMs - now(); leftMs > 0; leftMs = nextMs - now()) await sleep(leftMs, signal)
    nextMs = now() + gapMs
  }
  return {
    take: (signal) => {
      const mine = turn(lastInLine, signal)
      // The next caller waits until this one starts or gives up.
      lastInLine = mine.catch(() => {})
      return orAborted(mine, signal)
    },
  }
}

/** The caller is rejected at once, but its turn ends only when earlier ones have started. */
async function orAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  using _listening = addAbortListener(signal, () => aborted.reject(signal.reason))
  await Promise.race([aborted.promise, turn])
}
