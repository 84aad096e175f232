import type { JudgeResult, JudgeSample } from '../core/trial.ts'
import type { Model, ModelAnswer, ModelFailure, ModelRequest } from '../models/contract.ts'
import { type Aggregate, aggregate } from './aggregate.ts'
import { answerSchema, type ScoredSample, sampleOf } from './answer.ts'
import { type JudgeContext, judgePrompt } from './prompt.ts'
import type { Rubric } from './rubric.ts'
import { isFailed, type SampleCheckpoint, takeSamples } from './take-samples.ts'

export interface JudgeRequest {
  readonly model: Model
  readonly rubric: Rubric
  readonly context: JudgeContext
  readonly signal?: AbortSignal
  /** Prices to use instead of the model's. */
  readonly budget?: ModelRequest['budget']
  /** Smallest weighted score that passes. */
  readonly threshold: number
  /** Number of samples. Default 1. */
  readonly samples?: number
  /** Default `mean`. */
  readonly aggregate?: Aggregate
  readonly checkpoint?: SampleCheckpoint<ScoredSample>
  /** Called for each sample when it ends, for the event log. Not called for samples from the checkpoint. */
  readonly onSample?: (sample: number, result: JudgeSample) => void
}

export type Judgement =
  | { readonly kind: 'judged'; readonly result: JudgeResult }
  | {
      /** No sample succeeded. That says nothing about the agent: the trial is `infra`. */
      readonly kind: 'unavailable'
      readonly message: string
      readonly reason: ModelFailure['reason']
      readonly costUsd: number | null
    }

/** Models that always think use most of it before they answer. */
export const judgeOutputTokens = 8_000

/**
 * Asks a model how well a trial was done. The model gives scores per criterion. Sums, threshold and verdict are computed here. Throws
 * only for an interruption.
 */
export async function judge(request: JudgeRequest): Promise<Judgement> {
  const { samples = 1, model, rubric, checkpoint, onSample } = request
  const { asked, costUsd } = await takeSamples<ScoredSample>({
    samples,
    ask: () => askOnce(request, samples),
    fits: (stored) => fits(stored, rubric),
    ...(checkpoint !== undefined && { checkpoint }),
    ...(onSample !== undefined && { onSample }),
  })
  const results = asked.map(({ result }) => result)
  const scored = results.filter((result) => !isFailed(result))
  if (scored.length > 0) return { kind: 'judged', result: resultOf(request, results, scored, costUsd) }
  const [first] = asked
  return {
    kind: 'unavailable',
    message: `the judge ${model.name} gave no usable answer in ${samples === 1 ? 'its only sample' : `any of ${samples} samples`}: ${first?.result.kind === 'error' ? first.result.message : 'none was asked for'}`,
    reason: first?.reason ?? 'unavailable',
    costUsd,
  }
}

async function askOnce(
  { model, rubric, context, signal, budget }: JudgeRequest,
  samples: number,
): Promise<ModelAnswer<ScoredSample>> {
  const answer = await model.structured({
    ...judgePrompt(rubric, context),
    schema: answerSchema(rubric),
    maxOutputTokens: judgeOutputTokens,
    // Several samples are only useful if they can differ.
    ...(samples === 1 ? { temperature: 0 } : {}),
    ...(signal === undefined ? {} : { signal }),
    ...(budget === undefined ? {} : { budget }),
  })
  return { ...answer, value: sampleOf(answer.value, rubric, context) }
}

/** A stored sample counts only for the criteria it was made for. */
function fits({ scores }: ScoredSample, { criteria }: Rubric): boolean {
  return criteria.every(({ id }) => typeof scores[id] === 'number')
}

function resultOf(
  { model, rubric, threshold, aggregate: how = 'mean' }: JudgeRequest,
  samples: readonly JudgeSample[],
  scored: readonly ScoredSample[],
  costUsd: number | null,
): JudgeResult {
  const ratings = rubric.criteria.map(({ id }) => scored.map(({ scores }) => scores[id] ?? 0))
  const quotes = new Map(
    scored.flatMap((one) => (one.quotes ?? []).map((quote) => [JSON.stringify(quote), quote])),
  )
  const weighted_score = aggregate(
    scored.map((sample) => sample.weighted_score),
    how,
  )
  return {
    model: model.name,
    passed: weighted_score >= threshold,
    threshold,
    weighted_score,
    scores: Object.fromEntries(
      rubric.criteria.map(({ id }, index) => [id, aggregate(ratings[index] ?? [], how)]),
    ),
    confidence: aggregate(
      scored.map(({ confidence }) => confidence),
      how,
    ),
    issues: [...new Set(scored.flatMap(({ issues }) => issues))],
    highlights: [...new Set(scored.flatMap(({ highlights }) => highlights))],
    ...(quotes.size > 0 && { quotes: [...quotes.values()] }),
    samples,
    // A few criteria are not enough for Krippendorff's alpha. Over many trials it can be computed from the samples.
    agreement: pairwiseAgreement(ratings),
    costUsd,
  }
}

/**
 * How close several raters are on the same items, 0..1: one minus the mean distance of every pair of ratings of an item. Ratings are in
 * 0..1. It is defined for a few items, unlike Krippendorff's alpha, which needs spread. null with fewer than two ratings of any item.
 */
export function pairwiseAgreement(items: readonly (readonly number[])[]): number | null {
  let distance = 0
  let pairs = 0
  for (const ratings of items)
    for (const [index, rating] of ratings.entries())
      for (const other of ratings.slice(index + 1)) {
        distance += Math.abs(rating - other)
        pairs += 1
      }
  return pairs === 0 ? null : 1 - distance / pairs
}
