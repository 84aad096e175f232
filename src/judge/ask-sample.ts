import { type ModelAnswer, type ModelFailure, modelFailureOf } from '../models/contract.ts'

/** A slot for which no answer could be had. It is never a score. */
export interface FailedSample {
  readonly kind: 'error'
  readonly message: string
}

export interface AskedSample<Sample> {
  readonly result: Sample | FailedSample
  readonly costUsd: number | null
  /** Why it failed; null when it did not. */
  readonly reason: ModelFailure['reason'] | null
}

/** Asking again cannot help with these. */
const final: ReadonlySet<ModelFailure['reason']> = new Set(['auth', 'over_budget', 'context'])

/** One sample, asked for a second time when the first try fails. `paidUsd` is what earlier tries have cost. */
export async function askSample<Sample>(
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
