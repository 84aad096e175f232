import type { AgentEnding } from '../core/event.ts'
import type { AgentRequest } from './contract.ts'
import type { PassedLimit, UsageTotal } from './stream.ts'

/** Which limit of the request the agent has passed, by what it reported itself. Reaching a limit is not passing it. */
export function passedLimit(
  request: Pick<AgentRequest, 'maxCostUsd' | 'maxTurns'>,
  turns: number,
  { costUsd }: UsageTotal,
): PassedLimit | null {
  if (request.maxCostUsd !== undefined && costUsd !== null && costUsd > request.maxCostUsd)
    return 'over_budget'
  if (request.maxTurns !== undefined && turns > request.maxTurns) return 'over_turns'
  return null
}

/** What an aborted signal means: a meter outside has seen the budget passed, or we were asked to stop. */
export function endingOfAbort(signal: AbortSignal): 'over_budget' | 'cancelled' {
  return signal.reason === 'over_budget' ? 'over_budget' : 'cancelled'
}

/** What an agent complains about while we stop it is our doing. A time limit is different: it may have waited for its model. */
export function isStoppedByUs(ending: AgentEnding): boolean {
  return ending === 'over_budget' || ending === 'over_turns' || ending === 'cancelled'
}
