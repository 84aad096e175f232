import { findPty } from '../../io/pty.ts'

/** Can a program with this environment be given a terminal? */
export type TerminalSearch = (env: Readonly<Record<string, string>>) => Promise<boolean>

/**
 * Asked before the agent starts, and never concluded from how it ended: an agent that takes too long is not one without a
 * terminal. A yes is remembered per search path; a no may pass.
 */
export function createTerminalSearch(): TerminalSearch {
  const found = new Set<string | undefined>()
  return async (env) => {
    if (found.has(env.PATH)) return true
    const hasTerminal = await findPty(env)
    if (hasTerminal) found.add(env.PATH)
    return hasTerminal
  }
}
