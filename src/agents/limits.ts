import type { AgentRequest } from './contract.ts'
import type { UsageTotal } from './stream.ts'

/** Which limit of the request the agent has passed, by what it reported itself. Reaching a limit is not passing it. */
export function passedLimit(
  request: Pick<AgentRequest, 'maxCostUsd' | 'maxTurns'>,
  turns: number,
  { costUsd }: UsageTotal,
): 'over_budget' | 'over_turns' | null {
  if (request.maxCostUsd !== undefined && costUsd !== null && costUsd > request.maxCostUsd)
    return 'over_budget'
  if (request.maxTurns !== undefined && turns > request.maxTurns) return 'over_turns'
  return null
}
