import { GantryError } from '../../core/error.ts'
import { noTokens } from '../../core/trial.ts'
import { isTooLong } from '../ai-sdk/failure.ts'
import { completionOf } from '../ai-sdk/turn.ts'
import type { Budget, Settle } from '../budget.ts'
import type { ModelAnswer, ModelRequest } from '../contract.ts'
import { estimateUsd } from '../estimate-usd.ts'
import { modelError } from '../model-error.ts'
import { costOf, type TokenPrice } from '../pricing.ts'
import type { Completion } from '../provider.ts'
import type { BatchResult } from './message-batches.ts'
import type { BatchRequest } from './request-id.ts'

/** A question whose answer comes with a batch, or in the ordinary way after all. */
export interface WaitingCall {
  readonly id: string
  readonly request: BatchRequest
  /** Settled as the caller sees it. */
  readonly answer: Promise<ModelAnswer<string>>
  /** false when the budget does not allow it; the caller has been told. */
  reserve(): boolean
  /** `again` is not for this: ask in the ordinary way. */
  take(result: Exclude<BatchResult, { kind: 'again' }>): void
  askOrdinarily(): Promise<void>
  fail(error: unknown, isBilled: boolean): void
  readonly isOver: () => boolean
}

export interface CallParts {
  readonly name: string
  readonly price: TokenPrice | null
  readonly budget: Budget
  readonly ordinary: (request: ModelRequest) => Promise<ModelAnswer<string>>
}

/** Half price is what a batch costs. */
const share = 0.5

export function createWaitingCall(
  id: string,
  request: BatchRequest,
  original: ModelRequest,
  { name, price, budget: ownBudget, ordinary }: CallParts,
): WaitingCall {
  const { promise, resolve, reject } = Promise.withResolvers<ModelAnswer<string>>()
  const full = estimateUsd(request, price)
  const estimate = full === null ? null : full * share
  let settle: Settle = () => {}
  let isOver = false
  const finish = (costUsd: number | null, tell: () => void): void => {
    settle(costUsd)
    settle = () => {}
    isOver = true
    tell()
  }
  const fail = (error: unknown, isBilled: boolean): void =>
    finish(isBilled ? estimate : 0, () => reject(error))
  const interrupted = (): void =>
    fail(
      new GantryError('INTERRUPTED', `stopped while asking ${name}`, { cause: original.signal?.reason }),
      true,
    )
  original.signal?.addEventListener('abort', interrupted, { once: true })
  if (original.signal?.aborted === true) interrupted()
  promise.finally(() => original.signal?.removeEventListener('abort', interrupted)).catch(() => {})
  return {
    id,
    request,
    answer: promise,
    isOver: () => isOver,
    reserve: () => {
      const grant = (original.budget ?? ownBudget).reserve(estimate)
      if (grant.kind === 'granted') settle = grant.settle
      else
        fail(
          modelError({ reason: 'over_budget', message: grant.message, tokens: noTokens, costUsd: 0 }),
          false,
        )
      return grant.kind === 'granted'
    },
    take: (result) => {
      const completion = completed(result, request)
      if (completion.kind === 'failure') {
        const message = `${name}: ${completion.message}`
        fail(modelError({ ...completion, message, tokens: noTokens, costUsd: 0 }), false)
        return
      }
      const { text, tokens } = completion
      const costUsd = price === null ? null : costOf(tokens, price) * share
      finish(costUsd, () => resolve({ value: text, tokens, costUsd }))
    },
    askOrdinarily: async () => {
      settle(0)
      settle = () => {}
      try {
        const answer = await ordinary(original)
        finish(0, () => resolve(answer))
      } catch (error) {
        fail(error, false)
      }
    },
    fail,
  }
}

function completed(result: Exclude<BatchResult, { kind: 'again' }>, request: BatchRequest): Completion {
  if (result.kind === 'answered') return completionOf(result.answer, request)
  const reason = isTooLong(result.message) ? 'context' : 'unavailable'
  return { kind: 'failure', reason, message: result.message }
}
