import type { AgentEnding } from '../core/event.ts'
import type { AgentRequest } from './contract.ts'
import type { PassedLimit, UsageTotal } from './stream.ts'

/** The limit of the request that the agent has exceeded, by its own report. Reaching a limit is not exceeding it. */
export function passedLimit(
  request: Pick<AgentRequest, 'maxCostUsd' | 'maxTurns' | 'raiseCostLimit'>,
  turns: number,
  { costUsd }: UsageTotal,
): PassedLimit | null {
  const { maxCostUsd, raiseCostLimit } = request
  if (costUsd !== null && (maxCostUsd !== undefined || raiseCostLimit !== undefined)) {
    const limitUsd = raiseCostLimit === undefined ? maxCostUsd : raiseCostLimit(costUsd)
    if (costUsd > (limitUsd ?? Number.POSITIVE_INFINITY)) return 'over_budget'
  }
  if (request.maxTurns !== undefined && turns > request.maxTurns) return 'over_turns'
  return null
}

/** The meaning of an aborted signal: an external meter has found the budget exceeded, or the run was cancelled. */
export function endingOfAbort(signal: AbortSignal): 'over_budget' | 'cancelled' {
  return signal.reason === 'over_budget' ? 'over_budget' : 'cancelled'
}

/** Failures of an agent while we stop it are caused by us. A timeout is different: it may have waited for its model. */
export function isStoppedByUs(ending: AgentEnding): boolean {
  return ending === 'over_budget' || ending === 'over_turns' || ending === 'cancelled'
}
