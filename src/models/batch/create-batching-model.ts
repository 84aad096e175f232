import { systemClock } from '../../io/clock.ts'
import { defaultMaxOutputTokens } from '../ask.ts'
import { type Budget, createBudget } from '../budget.ts'
import type { Model } from '../contract.ts'
import { interruption } from '../model-error.ts'
import { type PriceTable, priceOf } from '../price-table.ts'
import { builtInPrices } from '../prices.ts'
import { realSleep, type Sleep } from '../retry.ts'
import { type AskText, structured } from '../structured.ts'
import { type BatchedCall, createBatchedCall } from './batched-call.ts'
import type { BatchJournal, BatchSize } from './journal.ts'
import { createRequestIds, openMessageBatches } from './message-batches.ts'
import { sendGathered } from './send-gathered.ts'

export interface BatchingOptions {
  /** `anthropic:…`; answers every call that is not part of a batch. */
  readonly model: Model
  readonly key: string
  /** With `/v1`, as the SDK requires it. */
  readonly baseUrl: string
  readonly journal: BatchJournal
  /** Fewer calls than this are sent as ordinary calls. Default 50. */
  readonly minimum?: number
  /** The user's prices; they override the built-in ones. */
  readonly prices?: PriceTable
  /** Default: no cap. */
  readonly budget?: Budget
  readonly sleep?: Sleep
  readonly random?: () => number
  readonly now?: () => Date
  readonly signal?: AbortSignal
  /** Polling interval of a batch. Default: five seconds at first, a minute later. */
  readonly pollMs?: number
  /** A batch that takes longer is cancelled, and the unanswered calls are made as ordinary calls. Default: no limit. */
  readonly batchTimeoutMs?: number
  /** The size of a batch. Default: far below the provider's limit, because smaller batches end sooner. */
  readonly most?: BatchSize
  /** Whether an aborted signal cancels a running batch. Default true; false when a later process will read its results. */
  readonly cancelOnAbort?: boolean
}

const usualMost: BatchSize = { requests: 10_000, bytes: 200 * 1024 * 1024 }

/**
 * Collects single calls and sends them as Message Batches, at half the price. A call is identified by its content:
 * after a crash the same call finds its answer in the batch that it was submitted with.
 */
export function createBatchingModel(options: BatchingOptions) {
  const { model: ordinary, key, baseUrl, journal, minimum = 50, most = usualMost } = options
  const { budget = createBudget(null) } = options
  const { name } = ordinary
  const signal = options.signal ?? new AbortController().signal
  const modelName = name.slice(name.indexOf(':') + 1)
  const price = priceOf(name, options.prices ?? {}) ?? priceOf(name, builtInPrices)
  const send = sendGathered({
    name,
    journal,
    minimum,
    signal,
    cancelOnAbort: options.cancelOnAbort ?? true,
    pollMs: options.pollMs ?? null,
    timeoutMs: options.batchTimeoutMs ?? null,
    batches: openMessageBatches(modelName, { baseURL: baseUrl, apiKey: key }),
    sleep: options.sleep ?? realSleep,
    random: options.random ?? Math.random,
    now: options.now ?? (() => systemClock.now()),
  })
  const idOf = createRequestIds(name)
  let gathered: BatchedCall[] = []
  let gatheredBytes = 0
  let isFlushed = false
  const sent = new Set<Promise<void>>()

  const sendAll = (): void => {
    const calls = gathered
    gathered = []
    gatheredBytes = 0
    const work = send(calls).finally(() => sent.delete(work))
    sent.add(work)
  }
  const text: AskText = ({ answerSchema: _, ...request }) => {
    if (isFlushed) return ordinary.text(request)
    const asked = {
      system: request.system,
      messages: [{ role: 'user' as const, text: request.prompt }],
      maxOutputTokens: request.maxOutputTokens ?? defaultMaxOutputTokens,
      temperature: request.temperature,
      ...(request.effort !== undefined && { effort: request.effort }),
    }
    const call = createBatchedCall(idOf(asked), asked, request, {
      name,
      price,
      budget,
      ordinary: ordinary.text,
    })
    if (call.isOver()) return call.answer
    gathered.push(call)
    gatheredBytes += Buffer.byteLength(request.prompt) + Buffer.byteLength(request.system ?? '')
    if (gathered.length >= most.requests || gatheredBytes >= most.bytes) sendAll()
    return call.answer
  }
  const interrupt = (): void => {
    for (const call of gathered) call.fail(interruption(name, signal.reason), false)
    gathered = []
  }
  signal.addEventListener('abort', interrupt, { once: true })
  /** Its `text` and `structured` wait for the flush; its `loop` does not. */
  const model: Model = { name, text, structured: (request) => structured(text, request), loop: ordinary.loop }
  return {
    model,
    /**
     * Sends all calls made so far and resolves when each has its answer or its error. Later calls, such as the repair
     * round of a malformed answer, are sent as ordinary calls.
     */
    flush: async (): Promise<void> => {
      isFlushed = true
      sendAll()
      await Promise.all(sent)
    },
  }
}
