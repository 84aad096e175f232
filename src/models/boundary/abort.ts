import { setTimeout as wait } from 'node:timers/promises'

/** Settles when the signal is aborted, which it may be already. */
export function aborted(signal: AbortSignal): Promise<'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted')
  return new Promise((settle) => signal.addEventListener('abort', () => settle('aborted'), { once: true }))
}

/** Waits, but not for somebody who has gone. */
export async function waitUnless(signal: AbortSignal, ms: number): Promise<void> {
  if (ms <= 0 || signal.aborted) return
  await wait(Math.min(ms, longestTimerMs), undefined, { signal }).catch((cause: unknown) => {
    if (!signal.aborted) throw cause
  })
}

/** Longer timers fire at once. */
const longestTimerMs = 2 ** 31 - 1

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
