import type { JudgeSample } from '../core/trial.ts'
import { type Model, type ModelFailure, type ModelRequest, modelFailureOf } from '../models/contract.ts'
import { answerSchema, sampleOf } from './answer.ts'
import { type JudgeContext, judgePrompt } from './prompt.ts'
import type { Rubric } from './rubric.ts'

export interface SampleSource {
  readonly model: Model
  readonly rubric: Rubric
  readonly context: JudgeContext
  readonly samples?: number
  readonly signal?: AbortSignal
  /** Charged instead of the model's own. */
  readonly budget?: ModelRequest['budget']
}

export interface AskedSample {
  readonly result: JudgeSample
  readonly costUsd: number | null
  /** Why it failed; null when it did not. */
  readonly reason: ModelFailure['reason'] | null
}

/** Asking again cannot help with these. */
const final: ReadonlySet<ModelFailure['reason']> = new Set(['auth', 'over_budget', 'context'])

/** One sample, asked for a second time when the first try fails. `paidUsd` is what earlier tries have cost. */
export async function askSample(source: SampleSource, paidUsd: number | null): Promise<AskedSample> {
  const first = await askOnce(source, paidUsd)
  if (first.reason === null || final.has(first.reason)) return first
  return askOnce(source, first.costUsd)
}

async function askOnce(source: SampleSource, paidUsd: number | null): Promise<AskedSample> {
  const { model, rubric, context, samples = 1, signal, budget } = source
  const plus = (costUsd: number | null): number | null =>
    paidUsd === null || costUsd === null ? null : paidUsd + costUsd
  try {
    const answer = await model.structured({
      ...judgePrompt(rubric, context),
      schema: answerSchema(rubric),
      // Models that always think spend most of it before they answer.
      maxOutputTokens: 8_000,
      // Several samples are worth their money only if they can differ.
      ...(samples === 1 ? { temperature: 0 } : {}),
      ...(signal === undefined ? {} : { signal }),
      ...(budget === undefined ? {} : { budget }),
    })
    return { result: sampleOf(answer.value, rubric), costUsd: plus(answer.costUsd), reason: null }
  } catch (error) {
    const failure = modelFailureOf(error)
    if (failure === null) throw error
    return {
      result: { kind: 'error', message: failure.message },
      costUsd: plus(failure.costUsd),
      reason: failure.reason,
    }
  }
}
