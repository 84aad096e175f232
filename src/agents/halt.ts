import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentRequest } from './contract.ts'
import { endingOfAbort } from './limits.ts'

type HaltCause = 'timed_out' | 'cancelled' | 'over_budget' | 'over_turns'

export type Halt = ReturnType<typeof createHalt>

/** Decides whether, and why, an agent in this process must stop. The first cause wins. */
export function createHalt(request: Pick<AgentRequest, 'signal' | 'timeoutMs'>) {
  const controller = new AbortController()
  // Inferred, its type could not be named in the published declarations.
  const signal: AgentRequest['signal'] = controller.signal
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
    signal,
    stop,
    cause(): HaltCause | null {
      // Steps that never wait keep the timer from firing.
      if (performance.now() >= deadline) stop('timed_out')
      return cause
    },
    /** Resolves after the time, or at once when the agent must stop. */
    sleep: (durationMs: number): Promise<void> =>
      sleep(Math.min(durationMs, 2 ** 31 - 1), undefined, { signal: controller.signal }).catch(() => {}),
    /** The result of the work, or null when the agent must stop first: a hanging hook does not block the end. */
    race: <T>(work: Promise<T> | undefined): Promise<T | null | undefined> => Promise.race([work, stopped]),
    dispose(): void {
      clearTimeout(timer)
      request.signal.removeEventListener('abort', cancel)
    },
  }
}
