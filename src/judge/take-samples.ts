import { addCost } from '../core/add-cost.ts'
import { addTokens, noTokens, type TokenUsage } from '../core/trial.ts'
import { type ModelAnswer, type ModelFailure, modelFailureOf } from '../models/contract.ts'

export interface Sampling<Sample extends { readonly kind: string }> {
  readonly samples: number
  /** Asks the model for one sample, counted from 0. Throws like a model. */
  ask(sample: number): Promise<ModelAnswer<Sample>>
  /** Whether a stored sample is an answer to this question. */
  fits(stored: Sample, sample: number): boolean
  readonly checkpoint?: SampleCheckpoint<Sample>
  /** Called for each sample when it ends. Not called for samples from the checkpoint. */
  readonly onSample?: (sample: number, result: Sample | FailedSample) => void
}

/** Stores finished samples, so a killed run does not pay for them again. */
export interface SampleCheckpoint<Sample> {
  load(sample: number): PaidSample<Sample> | undefined
  save(sample: number, paid: PaidSample<Sample>): void
}

/** Plain data. */
export interface PaidSample<Sample> {
  readonly result: Sample | FailedSample
  readonly costUsd: number | null
  /** Absent in a sample that an older version stored. */
  readonly tokens?: TokenUsage
}

/**
 * Sends the same question to a model several times at once. A sample that fails is repeated once and then recorded as an error;
 * one that was stored as an error is repeated. Throws only for an interruption, when every call has ended.
 */
export async function takeSamples<Sample extends { readonly kind: string }>(sampling: Sampling<Sample>) {
  const slots = Array.from({ length: sampling.samples }, (_, index) => index)
  const settled = await Promise.allSettled(slots.map((sample) => finishSample(sampling, sample)))
  const asked = settled.map((slot) => {
    if (slot.status === 'rejected') throw slot.reason
    return slot.value
  })
  return {
    asked,
    /** Of all of them; null = unmetered. */
    costUsd: asked.map(({ costUsd }) => costUsd).reduce(addCost, 0),
    /** Of all tries. */
    tokens: asked.reduce((sum, { tokens = noTokens }) => addTokens(sum, tokens), noTokens),
  }
}

async function finishSample<Sample extends { readonly kind: string }>(
  { ask, fits, checkpoint, onSample }: Sampling<Sample>,
  sample: number,
): Promise<AskedSample<Sample>> {
  const earlier = checkpoint?.load(sample)
  if (earlier !== undefined && !isFailed(earlier.result) && fits(earlier.result, sample))
    return { ...earlier, reason: null }
  const paid = { costUsd: earlier === undefined ? 0 : earlier.costUsd, tokens: earlier?.tokens ?? noTokens }
  const asked = await askSample(() => ask(sample), paid)
  const { result, costUsd, tokens = noTokens } = asked
  checkpoint?.save(sample, { result, costUsd, tokens })
  onSample?.(sample, asked.result)
  return asked
}

export function isFailed(result: { readonly kind: string }): result is FailedSample {
  return result.kind === 'error'
}

/** A sample without an answer. It is never a score. */
interface FailedSample {
  readonly kind: 'error'
  readonly message: string
}

interface AskedSample<Sample> extends PaidSample<Sample> {
  /** Why it failed; null when it did not. */
  readonly reason: ModelFailure['reason'] | null
}

/** Failures where a retry cannot help. */
const final: ReadonlySet<ModelFailure['reason']> = new Set(['auth', 'over_budget', 'context'])

type Paid = Required<Pick<PaidSample<unknown>, 'costUsd' | 'tokens'>>

/** One sample, repeated when the first try fails. `paid` is what earlier tries have cost. */
async function askSample<Sample>(
  ask: () => Promise<ModelAnswer<Sample>>,
  paid: Paid,
): Promise<AskedSample<Sample>> {
  const first = await askOnce(ask, paid)
  if (first.reason === null || final.has(first.reason)) return first
  return askOnce(ask, first)
}

async function askOnce<Sample>(
  ask: () => Promise<ModelAnswer<Sample>>,
  paid: Paid,
): Promise<AskedSample<Sample> & Paid> {
  const plus = ({ costUsd, tokens }: Paid): Paid => ({
    costUsd: addCost(paid.costUsd, costUsd),
    tokens: addTokens(paid.tokens, tokens),
  })
  try {
    const answer = await ask()
    return { result: answer.value, ...plus(answer), reason: null }
  } catch (error) {
    const failure = modelFailureOf(error)
    if (failure === null) throw error
    return { result: { kind: 'error', message: failure.message }, ...plus(failure), reason: failure.reason }
  }
}
