import { GantryError } from '../../core/error.ts'
import { systemClock } from '../../io/clock.ts'
import { defaultMaxOutputTokens } from '../ask.ts'
import { type Budget, createBudget } from '../budget.ts'
import type { Model } from '../contract.ts'
import { builtInPrices } from '../prices.ts'
import { type PriceTable, priceOf } from '../pricing.ts'
import { realSleep, type Sleep } from '../retry.ts'
import { type AskText, structured } from '../structured.ts'
import { type BatchedCall, createBatchedCall } from './batched-call.ts'
import type { BatchJournal, BatchSize } from './journal.ts'
import { createRequestIds, openMessageBatches } from './message-batches.ts'
import { sendGathered } from './send-gathered.ts'

export interface BatchingOptions {
  /** `anthropic:…`; answers whatever does not go into a batch. */
  readonly model: Model
  readonly key: string
  /** As the SDK wants it, with `/v1`. */
  readonly baseUrl: string
  readonly journal: BatchJournal
  /** Fewer calls than this are not worth a batch, and go out as ordinary calls. Default 50. */
  readonly minimum?: number
  /** The user's prices; they win over the built-in ones. */
  readonly prices?: PriceTable
  /** Default: no cap. */
  readonly budget?: Budget
  readonly sleep?: Sleep
  readonly random?: () => number
  readonly now?: () => Date
  readonly signal?: AbortSignal
  /** Between two looks at a batch. Default: five seconds at first, a minute later. */
  readonly pollMs?: number
  /** A batch that takes longer is cancelled, and what it has not answered is asked in ordinary calls. Default: no limit. */
  readonly batchTimeoutMs?: number
  /** How full a batch gets. Default: far below what the provider takes, since smaller batches end sooner. */
  readonly most?: BatchSize
  /** Whether a batch that is under way is cancelled with the signal. Default true; false where somebody will come back for it. */
  readonly cancelOnAbort?: boolean
}

export interface BatchingModel {
  /** Its `text` and `structured` wait for the flush; its `loop` does not. */
  readonly model: Model
  /**
   * Everything that will be asked at once has been asked: sends it and resolves when every caller has its answer or its
   * error. What is asked later, such as the second round of a malformed answer, goes out as ordinary calls.
   */
  flush(): Promise<void>
}

const usualMost: BatchSize = { requests: 10_000, bytes: 200 * 1024 * 1024 }

/**
 * Gathers single questions and asks them as Message Batches, at half the price. A question is known by its content: after
 * a crash the same question finds its answer in the batch it was handed in with.
 */
export function createBatchingModel(options: BatchingOptions): BatchingModel {
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
    const stopped = new GantryError('INTERRUPTED', `stopped while asking ${name}`, { cause: signal.reason })
    for (const call of gathered) call.fail(stopped, false)
    gathered = []
  }
  signal.addEventListener('abort', interrupt, { once: true })
  return {
    model: { name, text, structured: (request) => structured(text, request), loop: ordinary.loop },
    flush: async () => {
      isFlushed = true
      sendAll()
      await Promise.all(sent)
    },
  }
}
