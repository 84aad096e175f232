import { GantryError } from '../../core/error.ts'
import { noTokens } from '../../core/trial.ts'
import { failureOf, isTooLong } from '../ai-sdk/failure.ts'
import { completionOf } from '../ai-sdk/turn.ts'
import type { Budget, Settle } from '../budget.ts'
import type { ModelAnswer, ModelRequest } from '../contract.ts'
import { estimateUsd } from '../estimate-usd.ts'
import { modelError } from '../model-error.ts'
import { costOf, type TokenPrice } from '../pricing.ts'
import type { Completion } from '../provider.ts'
import { type CallRetryPolicy, retryWaitMs, type Sleep } from '../retry.ts'
import type { BatchRequest, BatchResult } from './message-batches.ts'

/** A question whose answer comes with a batch, or in the ordinary way after all. */
export interface BatchedCall {
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

export function createBatchedCall(
  id: string,
  request: BatchRequest,
  original: ModelRequest,
  { name, price, budget: ownBudget, ordinary }: CallParts,
): BatchedCall {
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

export interface Patience {
  readonly sleep: Sleep
  readonly random: () => number
  readonly signal: AbortSignal
}

/** A batch may take a day: a server that breaks down meanwhile gets more time than one that is asked a single question. */
const patient: CallRetryPolicy = { attempts: 10, firstWaitMs: 1_000, longestWaitMs: 60_000 }

/** Calls again while what goes wrong may pass. Throws as a model does when it does not. */
export async function persist<T>(
  name: string,
  { sleep, random, signal }: Patience,
  call: () => Promise<T>,
): Promise<T> {
  for (let calls = 1; ; calls += 1) {
    signal.throwIfAborted()
    try {
      return await call()
    } catch (error) {
      const failure = signal.aborted ? null : failureOf(error)
      if (failure === null) throw error
      const passing = failure.passing ?? (failure.reason === 'timeout' ? true : undefined)
      const waitMs = retryWaitMs(
        { ...failure, ...(passing !== undefined && { passing }) },
        calls,
        patient,
        random,
      )
      if (waitMs === null)
        throw modelError({ ...failure, message: `${name}: ${failure.message}`, tokens: noTokens, costUsd: 0 })
      await sleep(waitMs, signal)
    }
  }
}
