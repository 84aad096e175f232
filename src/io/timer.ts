import { setTimeout as wait } from 'node:timers/promises'
import { monotonicMs } from './clock.ts'

/** Monotonic time, and waits in it. Passed as an argument so tests can control it. */
export interface Timer {
  /** Milliseconds, from any start. */
  now(): number
  /** Rejects when the signal is aborted. May end early. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const systemTimer: Timer = { now: monotonicMs, sleep: (ms, signal) => wait(ms, undefined, { signal }) }
