import { realSleep, type Sleep } from '../retry.ts'

const remindAfterMs = 5 * 60_000

/** Lets people know from time to time that it waits, and ends with `stopped` too. */
export function remindingSleep(stopped: AbortSignal, remind: (waitedMs: number) => void): Sleep {
  let began: number | null = null
  let told = 0
  return async (ms, signal) => {
    const now = performance.now()
    began ??= now
    if (now - began - told >= remindAfterMs) {
      told = now - began
      remind(told)
    }
    await realSleep(ms, AbortSignal.any([signal, stopped]))
  }
}
