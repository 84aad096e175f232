import { join } from 'node:path'
import { formatDuration } from '../core/duration.ts'
import { GantryError } from '../core/error.ts'
import { noTokens } from '../core/trial.ts'
import { defaultMaxOutputTokens } from '../models/ask.ts'
import { callsWait, openBatchJournal, remindingSleep, reportingJournal } from '../models/batch/journal.ts'
import type { Budget, Grant } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import { estimateUsd } from '../models/estimate-usd.ts'
import { resolveBatchingModel } from '../models/index.ts'
import { modelError } from '../models/model-error.ts'
import { priceOf } from '../models/price-table.ts'
import { builtInPrices } from '../models/prices.ts'
import { realSleep } from '../models/retry.ts'
import { type AskText, structured } from '../models/structured.ts'
import type { TrialSlot } from '../trials/contract.ts'
import type { PreparedRun } from './prepare-run.ts'

/** The judge of a run whose calls are sent in batches. */
export type BatchedJudge = Awaited<ReturnType<typeof openBatchedJudge>>

export interface BatchedJudgeContext {
  readonly runDir: string
  readonly signal: AbortSignal
  note(note: { readonly level: 'info'; readonly message: string }): void
}

/** A batch costs half. */
const share = 0.5
/** For a call in flight when the run is stopped: its answer should still be stored. */
const graceMs = 10_000

/**
 * Batches are recorded in a journal in the run directory, so that a resumed run finds them again. An interruption ends the waiting, not
 * the batch: it is submitted and will be paid, and `--resume` takes its answers. Therefore it is not cancelled with the run.
 */
export async function openBatchedJudge(prepared: PreparedRun, { runDir, signal, note }: BatchedJudgeContext) {
  const { judge, judgeBatch, budget, env, request, project } = prepared
  if (judge === null || judgeBatch === null) throw new Error('the judge is not used in batches')
  const stop = new AbortController()
  const stopped = AbortSignal.any([signal, stop.signal])
  let waiting = 0
  const inform = (message: string): void => note({ level: 'info', message })
  const sleep = remindingSleep(stopped, (waitedMs) =>
    inform(`${callsWait(waiting)} in a batch still, after ${formatDuration(waitedMs)}`),
  )
  const journal = openBatchJournal(join(runDir, 'batches.jsonl'))
  const batching = await resolveBatchingModel(judge.name, {
    env,
    base: request.cwd,
    budget,
    prices: project.config.models,
    minimum: judgeBatch.minimum,
    journal: reportingJournal(journal, { note: inform, comeBack: '--resume' }),
    signal: stopped,
    cancelOnAbort: false,
    sleep: (ms, waiting) => sleep(Math.min(ms, judgeBatch.pollMs ?? ms), waiting),
  })
  if (batching === null) throw new GantryError('USAGE', `the judge '${judge.name}' does not support batches`)
  const { model } = batching
  const price = priceOf(judge.name, project.config.models) ?? priceOf(judge.name, builtInPrices)
  let flushing: Promise<void> | null = null
  const ask =
    (slot: TrialSlot): AskText =>
    async (asked) => {
      if (flushing !== null) return model.text(asked)
      const { system, prompt, maxOutputTokens = defaultMaxOutputTokens } = asked
      const full = estimateUsd({ system, messages: [{ role: 'user', text: prompt }], maxOutputTokens }, price)
      const hold = holdBudget(asked.budget ?? budget, full === null ? null : full * share)
      if (hold.kind === 'refused')
        throw modelError({ reason: 'over_budget', message: hold.message, tokens: noTokens, costUsd: 0 })
      waiting += 1
      try {
        return await slot.park(() => model.text({ ...asked, budget: hold.budget }))
      } finally {
        waiting -= 1
        hold.release()
      }
    }
  return {
    /** The judge for one trial: a waiting trial gives up its slot until the answer arrives. */
    modelFor: (slot: TrialSlot): Model => {
      const text = ask(slot)
      return { ...model, text, structured: (asked) => structured(text, asked) }
    },
    /** All calls of the batch have been made. Resolves when they are answered. */
    flush: (): Promise<void> => {
      flushing = batching.flush()
      return flushing
    },
    /** From now on, calls are sent at once. */
    isFlushed: () => flushing !== null,
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      const grace = new AbortController()
      await Promise.race([flushing, realSleep(graceMs, grace.signal)]).catch(() => {})
      grace.abort()
      journal.close()
    },
  }
}

type Hold =
  | { readonly kind: 'refused'; readonly message: string }
  | {
      readonly kind: 'held'
      /** Grants the first call that is not larger from the held money, and everything else from the budget. */
      readonly budget: Budget
      /** Releases unused money. */
      release(): void
    }

/**
 * Reserves money for a call that is sent much later, so that nothing else spends it meanwhile: a paid trial that cannot be judged
 * is worthless.
 */
export function holdBudget(behind: Budget, estimateUsd: number | null): Hold {
  const grant = behind.reserve(estimateUsd)
  if (grant.kind === 'refused') return grant
  let held: Extract<Grant, { kind: 'granted' }> | null = grant
  const release = (): void => {
    held?.settle(0)
    held = null
  }
  return {
    kind: 'held',
    release,
    budget: {
      ...behind,
      reserve: (wanted) => {
        const mine = held
        if (mine !== null && (wanted ?? 0) <= (mine.usd ?? 0)) {
          held = null
          return mine
        }
        release()
        return behind.reserve(wanted)
      },
    },
  }
}
