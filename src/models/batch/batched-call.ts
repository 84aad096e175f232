import { failureOf, isTooLong } from '../ai-sdk/failure.ts'
import { completionOf } from '../ai-sdk/sdk-answer.ts'
import type { Budget, SettleCost } from '../budget.ts'
import type { ModelAnswer, ModelRequest } from '../contract.ts'
import { estimateUsd } from '../estimate-usd.ts'
import { interruption, modelError } from '../model-error.ts'
import { costOf, type TokenPrice } from '../price-table.ts'
import type { Completion } from '../provider.ts'
import { type CallRetryPolicy, retryWaitMs, type Sleep } from '../retry.ts'
import type { BatchRequest, BatchResult } from './message-batches.ts'

/** A call that is answered by a batch or, failing that, by an ordinary call. */
export type BatchedCall = ReturnType<typeof createBatchedCall>

export interface CallParts {
  readonly name: string
  readonly price: TokenPrice | null
  readonly budget: Budget
  readonly ordinary: (request: ModelRequest) => Promise<ModelAnswer<string>>
}

/** A batch costs half the price. */
const share = 0.5

export function createBatchedCall(
  id: string,
  request: BatchRequest,
  original: ModelRequest,
  { name, price, budget: ownBudget, ordinary }: CallParts,
) {
  const { promise, resolve, reject } = Promise.withResolvers<ModelAnswer<string>>()
  const full = estimateUsd(request, price)
  const estimate = full === null ? null : full * share
  let settle: SettleCost = () => {}
  let isOver = false
  const finish = (costUsd: number | null, done: () => void): void => {
    settle(costUsd)
    settle = () => {}
    isOver = true
    done()
  }
  const fail = (error: unknown, isBilled: boolean): void =>
    finish(isBilled ? estimate : 0, () => reject(error))
  const interrupted = (): void => fail(interruption(name, original.signal?.reason), true)
  original.signal?.addEventListener('abort', interrupted, { once: true })
  if (original.signal?.aborted === true) interrupted()
  promise.finally(() => original.signal?.removeEventListener('abort', interrupted)).catch(() => {})
  return {
    id,
    request,
    answer: promise,
    isOver: () => isOver,
    /** False when the budget does not allow it; then the caller's promise is rejected. */
    reserve: () => {
      const grant = (original.budget ?? ownBudget).reserve(estimate)
      if (grant.kind === 'granted') settle = grant.settle
      else fail(modelError({ reason: 'over_budget', message: grant.message }), false)
      return grant.kind === 'granted'
    },
    /** Not for the outcome `again`: make an ordinary call instead. */
    take: (result: Exclude<BatchResult, { kind: 'again' }>): void => {
      const completion = completed(result, request)
      if (completion.kind === 'failure') {
        const message = `${name}: ${completion.message}`
        fail(modelError({ ...completion, message }), false)
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

/** A batch may take a day, so an unavailable server is retried for longer than for a single call. */
const patient: CallRetryPolicy = { attempts: 10, firstWaitMs: 1_000, longestWaitMs: 60_000 }

/** Retries while the failure may be temporary. Then throws as a model does. */
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
      const lasting = failure.reason === 'timeout' ? { passing: true, ...failure } : failure
      const waitMs = retryWaitMs(lasting, calls, patient, random)
      if (waitMs === null) throw modelError({ ...failure, message: `${name}: ${failure.message}` })
      await sleep(waitMs, signal)
    }
  }
}
