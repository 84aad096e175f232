import { noTokens } from '../../core/trial.ts'
import type { BoundarySession, Responder, SessionOptions } from './contract.ts'
import { openSession, type SessionCore } from './open-session.ts'

/** A line, wherever it can be reached. */
export interface LineCore extends Pick<SessionCore, 'take' | 'close'> {
  open(options: SessionOptions): Omit<BoundarySession, 'endpoint'>
}

export function openLine(closeGraceMs: number): LineCore {
  const idle = openSession({ responder: fewWords }, closeGraceMs)
  let current: SessionCore | null = null
  return {
    take: (arrival) => (current ?? idle).take(arrival),
    open(options) {
      if (current !== null) throw new Error('a line has one session at a time')
      const session = openSession(options, closeGraceMs)
      current = session
      return {
        stopped: session.stopped,
        report: session.report,
        async close() {
          // A call that arrives while the last answers are sent belongs to no session.
          if (current === session) current = null
          await session.close()
        },
      }
    },
    async close() {
      await Promise.all([idle.close(), current?.close()])
    },
  }
}

/** Answers calls that arrive between sessions. */
const fewWords: Responder = {
  name: 'idle',
  answer: async () => ({
    kind: 'turn',
    turn: { blocks: [{ kind: 'text', text: 'Done.' }], stop: 'end', usage: noTokens },
  }),
}
