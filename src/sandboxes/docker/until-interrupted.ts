import type { SandboxStep } from '../contract.ts'

/** What can end a step before its time. */
export interface Interruption {
  /** Never settles when nothing happens. */
  readonly happened: Promise<'timed_out' | 'cancelled' | 'threw'>
  /** Runs a callback of the caller's; what it throws interrupts the step. */
  guard(callback: () => void): void
  /** Nothing can happen any more. */
  stop(): void
  /** Throws what the callback threw, if it did. */
  rethrow(): void
}

/** The longest a timer can wait. */
const timerMaxMs = 2 ** 31 - 1

export function untilInterrupted({
  timeoutMs,
  signal,
}: Pick<SandboxStep, 'timeoutMs' | 'signal'>): Interruption {
  const { promise: happened, resolve } = Promise.withResolvers<'timed_out' | 'cancelled' | 'threw'>()
  let thrown: { readonly cause: unknown } | null = null
  const cancel = (): void => resolve('cancelled')
  const timer = setTimeout(() => resolve('timed_out'), Math.min(timeoutMs, timerMaxMs))
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  return {
    happened,
    guard: (callback) => {
      if (thrown !== null) return
      try {
        callback()
      } catch (cause) {
        thrown = { cause }
        resolve('threw')
      }
    },
    stop: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    },
    rethrow: () => {
      if (thrown !== null) throw thrown.cause
    },
  }
}
