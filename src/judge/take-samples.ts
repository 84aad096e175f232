import { type ModelAnswer, type ModelFailure, modelFailureOf } from '../models/contract.ts'

export interface Sampling<Sample extends { readonly kind: string }> {
  readonly samples: number
  /** Asks the model for one of them, counted from 0. Throws as a model does. */
  ask(sample: number): Promise<ModelAnswer<Sample>>
  /** Whether a stored sample is an answer to this question. */
  fits(stored: Sample, sample: number): boolean
  readonly checkpoint?: SampleCheckpoint<Sample>
  /** Called for each sample when it ends. Not called for samples from the checkpoint. */
  readonly onSample?: (sample: number, result: Sample | FailedSample) => void
}

/** Keeps finished samples, so that a killed run does not pay for them again. */
export interface SampleCheckpoint<Sample> {
  load(sample: number): PaidSample<Sample> | undefined
  save(sample: number, paid: PaidSample<Sample>): void
}

/** Plain data. */
export interface PaidSample<Sample> {
  readonly result: Sample | FailedSample
  readonly costUsd: number | null
}

export interface TakenSamples<Sample> {
  readonly asked: readonly AskedSample<Sample>[]
  /** Of all of them; null = unmetered. */
  readonly costUsd: number | null
}

/**
 * Sends the same question to a model several times at once. A sample that fails is repeated once and then recorded as an error;
 * one that was stored as an error is repeated. Throws only for an interruption, when every call has ended.
 */
export async function takeSamples<Sample extends { readonly kind: string }>(
  sampling: Sampling<Sample>,
): Promise<TakenSamples<Sample>> {
  const slots = Array.from({ length: sampling.samples }, (_, index) => index)
  const settled = await Promise.allSettled(slots.map((sample) => finishSample(sampling, sample)))
  const asked = settled.map((slot) => {
    if (slot.status === 'rejected') throw slot.reason
    return slot.value
  })
  const costUsd = asked.reduce<number | null>(
    (sum, { costUsd: cost }) => (sum === null || cost === null ? null : sum + cost),
    0,
  )
  return { asked, costUsd }
}

async function finishSample<Sample extends { readonly kind: string }>(
  { ask, fits, checkpoint, onSample }: Sampling<Sample>,
  sample: number,
): Promise<AskedSample<Sample>> {
  const earlier = checkpoint?.load(sample)
  if (earlier !== undefined && !isFailed(earlier.result) && fits(earlier.result, sample))
    return { ...earlier, reason: null }
  const asked = await askSample(() => ask(sample), earlier === undefined ? 0 : earlier.costUsd)
  checkpoint?.save(sample, { result: asked.result, costUsd: asked.costUsd })
  onSample?.(sample, asked.result)
  return asked
}

export function isFailed(result: { readonly kind: string }): result is FailedSample {
  return result.kind === 'error'
}

/** A slot for which no answer could be had. It is never a score. */
interface FailedSample {
  readonly kind: 'error'
  readonly message: string
}

interface AskedSample<Sample> {
  readonly result: Sample | FailedSample
  readonly costUsd: number | null
  /** Why it failed; null when it did not. */
  readonly reason: ModelFailure['reason'] | null
}

/** Asking again cannot help with these. */
const final: ReadonlySet<ModelFailure['reason']> = new Set(['auth', 'over_budget', 'context'])

/** One sample, repeated when the first try fails. `paidUsd` is what earlier tries have cost. */
async function askSample<Sample>(
  ask: () => Promise<ModelAnswer<Sample>>,
  paidUsd: number | null,
): Promise<AskedSample<Sample>> {
  const first = await askOnce(ask, paidUsd)
  if (first.reason === null || final.has(first.reason)) return first
  return askOnce(ask, first.costUsd)
}

async function askOnce<Sample>(
  ask: () => Promise<ModelAnswer<Sample>>,
  paidUsd: number | null,
): Promise<AskedSample<Sample>> {
  const plus = (costUsd: number | null): number | null =>
    paidUsd === null || costUsd === null ? null : paidUsd + costUsd
  try {
    const answer = await ask()
    return { result: answer.value, costUsd: plus(answer.costUsd), reason: null }
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
