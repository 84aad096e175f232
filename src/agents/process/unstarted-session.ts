import type { AgentSession, SessionRequest } from '../contract.ts'
import { notStarted } from './not-started.ts'

/** The session of an agent that never began: every prompt says why. `name` is the user's own word for it. */
export function unstartedSession(name: string, request: SessionRequest, problem: string): AgentSession {
  // `complete` is told once, by whoever closes it.
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
