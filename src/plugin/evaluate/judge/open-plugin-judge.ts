import { formatDuration } from '../../../core/duration.ts'
import {
  batchSize,
  callsWait,
  openBatchJournal,
  remindingSleep,
  reportingJournal,
} from '../../../models/batch/journal.ts'
import type { Model } from '../../../models/contract.ts'
import { type ModelContext, resolveBatchingModel } from '../../../models/index.ts'
import { type AskText, structured } from '../../../models/structured.ts'
import type { PluginConfig } from '../../config/keys/schema.ts'
import { type JudgeTrialRequest, judgeTrial } from './judge-trial.ts'

export type TrialToJudge = Omit<JudgeTrialRequest, 'model' | 'config' | 'signal' | 'batched'>

export type PluginJudge = Awaited<ReturnType<typeof openPluginJudge>>

export interface PluginJudgeOptions {
  readonly model: Model
  readonly config: PluginConfig
  /** Trials that need a judge, times samples. */
  readonly expectedCalls: number
  /** The batch API; null where it cannot be used, such as with a cassette. */
  readonly access: Omit<ModelContext, 'sleep'> | null
  /** The journal of submitted batches in the run directory: a resumed run finds them there. */
  readonly journalPath: string
  readonly signal: AbortSignal
  note(message: string): void
}

/**
 * The judge of a run. Its calls go out in message batches, at half the price, when there are enough of them.
 *
 * An interruption ends the waiting, not the batch. The batch is submitted and will be paid, and a resumed run takes its answers.
 */
export async function openPluginJudge(options: PluginJudgeOptions) {
  const { model, config, signal } = options
  const batched = await openBatches(options)
  return {
    /** Whether judgements arrive only after `flush`: request all of them first, then wait. */
    isBatched: batched !== null,
    judge: (trial: TrialToJudge) =>
      judgeTrial({ ...trial, model: batched?.model ?? model, config, signal, batched: batched !== null }),
    /** Call it when all judgements have been requested. Resolves when all are answered; immediately without batches. */
    flush: async () => batched?.flush(),
    [Symbol.asyncDispose]: async () => batched?.close(),
  }
}

/** null when batches are not possible, not wanted, or not worth it. */
async function openBatches(options: PluginJudgeOptions) {
  const { model, config, expectedCalls, access, journalPath, signal, note } = options
  if (access === null || !model.name.startsWith('anthropic:')) return null
  if (config.force_synchronous || expectedCalls < config.batch_threshold) return null
  const stop = new AbortController()
  const stopped = AbortSignal.any([signal, stop.signal])
  const journal = openBatchJournal(journalPath)
  const batching = await resolveBatchingModel(model.name, {
    ...access,
    journal: reportingJournal(journal, { note, comeBack: 'gantry plugin resume' }),
    minimum: config.batch_threshold,
    pollMs: config.poll_interval_ms,
    batchTimeoutMs: config.batch_timeout_ms,
    most: batchSize(config.tuning.batching.safety_margin),
    signal: stopped,
    cancelOnAbort: false,
    sleep: remindingSleep(stopped, (waitedMs) =>
      note(`${callsWait(expectedCalls)} in a batch still, after ${formatDuration(waitedMs)}`),
    ),
  })
  if (batching === null) {
    journal.close()
    return null
  }
  const { model: gathering, gathered } = gatherCalls(batching.model)
  let flushing: Promise<void> = Promise.resolve()
  return {
    model: gathering,
    flush: (): Promise<void> => {
      flushing = gathered().then(batching.flush)
      return flushing
    },
    /** Ends the waiting. What is being submitted is written to the journal first. */
    close: async (): Promise<void> => {
      stop.abort()
      await flushing
      journal.close()
    },
  }
}

/**
 * A model that reports when all requested calls have reached the batch. Some work happens between a request and its call, and a
 * flush in between would miss the call.
 */
function gatherCalls(model: Model): { readonly model: Model; gathered(): Promise<void> } {
  const onTheWay = new Set<Promise<void>>()
  const watched: Model['structured'] = async (request) => {
    const { promise, resolve: arrive } = Promise.withResolvers<void>()
    onTheWay.add(promise)
    void promise.then(() => onTheWay.delete(promise))
    const text: AskText = (asked) => {
      const answer = model.text(asked)
      arrive()
      return answer
    }
    return structured(text, request).finally(arrive)
  }
  return {
    model: { ...model, structured: watched },
    gathered: async () => {
      while (onTheWay.size > 0) await Promise.all(onTheWay)
    },
  }
}
