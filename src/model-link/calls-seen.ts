import type { FailureReport } from '../agents/contract.ts'
import { classifyFailure } from '../agents/failure.ts'
import type { ModelBehind } from '../models/boundary/behind.ts'
import type { ExchangeFacts } from '../models/boundary/contract.ts'

/** What the boundary saw pass between an agent and its model. */
export interface CallsSeen {
  see(exchange: ExchangeFacts): void
  /** The provider sent the agent away at the end: whatever it did then says nothing about the tool. */
  failure(): FailureReport | null
  /** How long the last refusal asked to wait; null when it did not say. */
  retryAfterMs(): number | null
  /** What calls that reached a provider cost; null when nothing is known about any of them. */
  paidUsd(): number | null
}

/** Answers from a script or a cassette cost nothing, and their failures are meant. */
export function callsSeen({ source, replay }: ModelBehind): CallsSeen {
  const isFree = source.kind === 'script' || replay === 'strict'
  let last: ExchangeFacts | null = null
  const costs: (number | null)[] = []
  return {
    see: (exchange) => {
      const { kind, by, tokens, costUsd } = exchange
      if (kind === 'count_tokens' || kind === 'list_models') return
      last = exchange
      if (reachedProvider(by) && (costUsd !== null || tokens !== null)) costs.push(costUsd)
    },
    failure: () => {
      if (isFree || last === null || !reachedProvider(last.by)) return null
      const reason = classifyFailure('', last.status)
      const message = `the last call to ${last.model || 'the model'} was answered with status ${last.status}`
      return reason === null ? null : { reason, message }
    },
    retryAfterMs: () => last?.retryAfterMs ?? null,
    paidUsd: () => {
      if (isFree) return 0
      const known = costs.filter((cost) => cost !== null)
      return costs.length > 0 && known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0)
    },
  }
}

function reachedProvider(by: string): boolean {
  return by === 'upstream' || by === 'record' || by === 'auto'
}
