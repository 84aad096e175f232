import type { AgentRequest } from './contract.ts'
import { endingOfAbort } from './limits.ts'

type HaltCause = 'timed_out' | 'cancelled' | 'over_budget' | 'over_turns'

/** The one place that knows whether, and why, an agent in our own process has to stop. The first cause stands. */
export interface Halt {
  readonly signal: AbortSignal
  cause(): HaltCause | null
  stop(cause: HaltCause): void
  /** Settles after the time, or at once when the agent has to stop. */
  sleep(durationMs: number): Promise<void>
  /** What the work comes to, or null when the agent has to stop before: a hook that hangs does not block the end. */
  race<T>(work: Promise<T> | undefined): Promise<T | null | undefined>
  dispose(): void
}

export function createHalt(request: Pick<AgentRequest, 'signal' | 'timeoutMs'>): Halt {
  const controller = new AbortController()
  const { promise: stopped, resolve: resolveStopped } = Promise.withResolvers<null>()
  const deadline = performance.now() + request.timeoutMs
  let cause: HaltCause | null = null
  const stop = (why: HaltCause): void => {
    if (cause !== null) return
    cause = why
    controller.abort()
    resolveStopped(null)
  }
  const cancel = (): void => stop(endingOfAbort(request.signal))
  // A longer wait overflows the timer and would fire at once.
  const timer = setTimeout(() => stop('timed_out'), Math.min(request.timeoutMs, 2 ** 31 - 1))
  request.signal.addEventListener('abort', cancel)
  if (request.signal.aborted) cancel()
  return {
    signal: controller.signal,
    stop,
    cause() {
      // Steps that never wait keep the timer from firing.
      if (performance.now() >= deadline) stop('timed_out')
      return cause
    },
    sleep: (durationMs) =>
      new Promise((resolve) => {
        if (controller.signal.aborted) return resolve()
        const done = (): void => {
          clearTimeout(waiting)
          controller.signal.removeEventListener('abort', done)
          resolve()
        }
        const waiting = setTimeout(done, Math.min(durationMs, 2 ** 31 - 1))
        controller.signal.addEventListener('abort', done)
      }),
    race: (work) => Promise.race([work, stopped]),
    dispose() {
      clearTimeout(timer)
      request.signal.removeEventListener('abort', cancel)
    },
  }
}
