import type { AgentOutcome, AgentRequest, AgentSession, FailureReport, SessionRequest } from '../contract.ts'
import { endingOfAbort } from '../limits.ts'

/** The outcome of an agent that never started. `name` is the name that the user gave it. */
export function notStarted(
  name: string,
  { signal, emit }: Pick<AgentRequest, 'signal' | 'emit'>,
  problem: string,
): AgentOutcome {
  const ending = signal.aborted ? endingOfAbort(signal) : 'not_started'
  const failure: FailureReport | null =
    ending === 'not_started' ? { reason: 'unavailable', message: `agent ${name}: ${problem}` } : null
  emit({ event: 'complete', exit_code: null, duration_secs: 0, ending })
  return { ending, exitCode: null, finalText: null, costUsd: null, tokens: null, failure }
}

/** The session of an agent that never started: every prompt reports the reason. `name` is the name that the user gave it. */
export function unstartedSession(name: string, request: SessionRequest, problem: string): AgentSession {
  // `complete` is emitted once, by `close`.
  const silent = { ...request, emit: () => {} }
  let isClosed = false
  return {
    ask: async () => notStarted(name, silent, problem),
    isAlive: () => false,
    async close() {
      if (!isClosed) notStarted(name, request, problem)
      isClosed = true
    },
  }
}
