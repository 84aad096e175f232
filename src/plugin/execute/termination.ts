import type { AgentOutcome } from '../../agents/contract.ts'
import type { Execution } from './contract.ts'

/** How a scenario came to its end. An agent that stopped by itself ended cleanly, whatever happened to it afterwards. */
export function terminationOf(
  { ending, failure, exitCode }: AgentOutcome,
  { stopSeen, isAlive }: { readonly stopSeen: boolean; readonly isAlive: boolean },
): Execution['termination_type'] {
  if (stopSeen) return 'clean'
  switch (ending) {
    case 'timed_out':
      return isAlive ? 'interrupted' : 'timeout'
    case 'over_turns':
    case 'over_budget':
    case 'cancelled':
      return 'interrupted'
    case 'crashed':
    case 'not_started':
      return 'error'
    case 'exited':
      return failure === null && exitCode === 0 ? 'clean' : 'error'
  }
}
