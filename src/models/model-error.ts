import { GantryError } from '../core/error.ts'
import { noTokens } from '../core/trial.ts'
import type { ModelFailure } from './contract.ts'

/** Every failed model call is thrown as this error, at no cost unless it is given; `modelFailureOf` reads it back. */
export function modelError(
  given: Pick<ModelFailure, 'reason' | 'message'> & Partial<ModelFailure>,
): GantryError {
  const failure: ModelFailure = { tokens: noTokens, costUsd: 0, ...given }
  const hint = hints[failure.reason]
  return new GantryError('MODEL_UNAVAILABLE', failure.message, {
    cause: failure,
    ...(hint === null ? {} : { hint }),
  })
}

const hints: Readonly<Record<ModelFailure['reason'], string | null>> = {
  auth: "Check the provider's key in the environment.",
  rate_limit: 'Wait, or lower the concurrency; the run can be resumed.',
  overloaded: 'Wait, or lower the concurrency; the run can be resumed.',
  over_budget: 'Raise the cap. Finished work is kept and not paid again.',
  timeout: 'Check the network and the provider; the run can be resumed.',
  unavailable: 'Check the network and the provider; the run can be resumed.',
  malformed: 'Use a stronger model.',
  context: 'Use a model with a longer context.',
  refused: null,
}

/** Turns any error of aborted work into the same GantryError. */
export async function uninterrupted<T>(
  name: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    signal.throwIfAborted()
    return await work()
  } catch (cause) {
    if (!signal.aborted || (cause instanceof GantryError && cause.code === 'INTERRUPTED')) throw cause
    throw interruption(name, cause)
  }
}

export function interruption(name: string, cause: unknown): GantryError {
  return new GantryError('INTERRUPTED', `stopped while asking ${name}`, { cause })
}
