import type { SandboxStep } from '../contract.ts'

/** The longest possible timer. */
const timerMaxMs = 2 ** 31 - 1

/** Everything that can end a step early. */
export function untilInterrupted({ timeoutMs, signal }: Pick<SandboxStep, 'timeoutMs' | 'signal'>) {
  const { promise: happened, resolve } = Promise.withResolvers<'timed_out' | 'cancelled' | 'threw'>()
  let thrown: { readonly cause: unknown } | null = null
  const cancel = (): void => resolve('cancelled')
  const timer = setTimeout(() => resolve('timed_out'), Math.min(timeoutMs, timerMaxMs))
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  return {
    /** Never settles when nothing happens. */
    happened,
    /** Runs a callback of the caller; an error in it interrupts the step. */
    guard: (callback: () => void): void => {
      if (thrown !== null) return
      try {
        callback()
      } catch (cause) {
        thrown = { cause }
        resolve('threw')
      }
    },
    stop: (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    },
    /** Throws the error of the callback, if there was one. */
    rethrow: (): void => {
      if (thrown !== null) throw thrown.cause
    },
  }
}
