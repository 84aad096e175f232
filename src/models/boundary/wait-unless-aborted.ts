import { setTimeout as wait } from 'node:timers/promises'

/** Resolves when the signal is aborted, or at once if it already is. */
export function aborted(signal: AbortSignal): Promise<'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted')
  return new Promise((settle) => signal.addEventListener('abort', () => settle('aborted'), { once: true }))
}

export async function waitUnlessAborted(signal: AbortSignal, ms: number): Promise<void> {
  if (ms <= 0 || signal.aborted) return
  await wait(Math.min(ms, longestTimerMs), undefined, { signal }).catch((cause: unknown) => {
    if (!signal.aborted) throw cause
  })
}

/** Node fires longer timers at once. */
const longestTimerMs = 2 ** 31 - 1

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
