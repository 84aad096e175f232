import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../io/clock.ts'

/** A limit of a provider that one trial meets applies to all trials of that provider: none starts until it has passed. */
export interface Pauses {
  pause(provider: string, waitMs: number): void
  /** Rejects when the signal is aborted. */
  passed(provider: string, signal: AbortSignal): Promise<void>
}

export function createPauses(): Pauses {
  const untilMs = new Map<string, number>()
  return {
    pause(provider, waitMs) {
      untilMs.set(provider, Math.max(untilMs.get(provider) ?? 0, monotonicMs() + waitMs))
    },
    async passed(provider, signal) {
      const leftMs = (): number => (untilMs.get(provider) ?? 0) - monotonicMs()
      for (let ms = leftMs(); ms > 0; ms = leftMs()) await sleep(ms, undefined, { signal })
      signal.throwIfAborted()
    },
  }
}
