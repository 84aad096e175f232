import { pairwiseAgreement } from '../core/stats/agreement.ts'
import type { JudgeResult, JudgeSample } from '../core/trial.ts'
import type { ModelFailure } from '../models/contract.ts'
import { type Aggregate, aggregate } from './aggregate.ts'
import type { ScoredSample } from './answer.ts'
import { type AskedSample, askSample, type SampleSource } from './ask-sample.ts'
import type { Rubric } from './rubric.ts'

export interface JudgeRequest extends SampleSource {
  /** Smallest weighted score that passes. */
  readonly threshold: number
  /** How often the model is asked. Default 1. */
  readonly samples?: number
  /** Default `mean`. */
  readonly aggregate?: Aggregate
  readonly checkpoint?: JudgeCheckpoint
  /** Told of each sample as it ends, for the event log. Not told of samples taken from the checkpoint. */
  readonly onSample?: (sample: number, result: JudgeSample) => void
}

/** Keeps finished samples, so that a run that was killed pays none of them again. */
export interface JudgeCheckpoint {
  load(sample: number): PaidSample | undefined
  save(sample: number, paid: PaidSample): void
}

/** Plain data. */
export interface PaidSample {
  readonly result: JudgeSample
  readonly costUsd: number | null
}

export type Judgement =
  | { readonly kind: 'judged'; readonly result: JudgeResult }
  | {
      /** No sample could be had. That says nothing about the agent: the trial is `infra`. */
      readonly kind: 'unavailable'
      readonly message: string
      readonly reason: ModelFailure['reason']
      readonly costUsd: number | null
    }

/**
 * Asks a model how well a trial was done. The model gives scores per criterion; sums, threshold and verdict are computed
 * here. A sample that fails is asked for once more and then recorded as an error; the others still count.
 * Throws only for an interruption.
 */
export async function judge(request: JudgeRequest): Promise<Judgement> {
  const { samples = 1, model } = request
  const slots = Array.from({ length: samples }, (_, index) => index)
  const settled = await Promise.allSettled(slots.map((sample) => finishSample(request, sample)))
  const asked = settled.map((slot) => {
    if (slot.status === 'rejected') throw slot.reason
    return slot.value
  })
  const costUsd = asked.reduce<number | null>(
    (sum, { costUsd: cost }) => (sum === null || cost === null ? null : sum + cost),
    0,
  )
  const scored = asked.map(({ result }) => result).filter((result) => result.kind === 'scored')
  if (scored.length > 0)
    return {
      kind: 'judged',
      result: resultOf(
        request,
        asked.map(({ result }) => result),
        scored,
        costUsd,
      ),
    }
  const [first] = asked
  return {
    kind: 'unavailable',
    message: `the judge ${model.name} gave no usable answer in ${samples === 1 ? 'its only sample' : `any of ${samples} samples`}: ${first?.result.kind === 'error' ? first.result.message : 'none was asked for'}`,
    reason: first?.reason ?? 'unavailable',
    costUsd,
  }
}

async function finishSample(request: JudgeRequest, sample: number): Promise<AskedSample> {
  const { checkpoint, onSample, rubric } = request
  const earlier = checkpoint?.load(sample)
  if (earlier?.result.kind === 'scored' && fits(earlier.result, rubric)) return { ...earlier, reason: null }
  const asked = await askSample(request, earlier?.costUsd ?? (earlier === undefined ? 0 : null))
  checkpoint?.save(sample, { result: asked.result, costUsd: asked.costUsd })
  onSample?.(sample, asked.result)
  return asked
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
    samples,
    // A handful of criteria is too little for Krippendorff's alpha; over many trials it can be had from the samples.
    agreement: pairwiseAgreement(ratings),
    costUsd,
  }
}
