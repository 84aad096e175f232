import { setTimeout as wait } from 'node:timers/promises'
import { monotonicMs } from '../../io/monotonic.ts'

/** A limit of the provider that one trial meets stands in the way of all: nothing begins until it has passed. */
export interface Pause {
  until(waitMs: number): void
  /** Rejects when the signal is aborted. */
  passed(signal: AbortSignal): Promise<void>
}

export function createPause(): Pause {
  let untilMs = 0
  return {
    until(waitMs) {
      untilMs = Math.max(untilMs, monotonicMs() + waitMs)
    },
    async passed(signal) {
      for (let leftMs = untilMs - monotonicMs(); leftMs > 0; leftMs = untilMs - monotonicMs())
        await wait(leftMs, undefined, { signal })
      signal.throwIfAborted()
    },
  }
}
