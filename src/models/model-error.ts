import { GantryError } from '../core/error.ts'
import type { ModelFailure } from './contract.ts'

/** The one way a failed model call is thrown; `modelFailureOf` reads it back. */
export function modelError(failure: ModelFailure): GantryError {
  const hint = hintFor(failure.reason)
  return new GantryError('MODEL_UNAVAILABLE', failure.message, {
    cause: failure,
    ...(hint === null ? {} : { hint }),
  })
}

function hintFor(reason: ModelFailure['reason']): string | null {
  switch (reason) {
    case 'auth':
      return "Check the provider's key in the environment."
    case 'rate_limit':
    case 'overloaded':
      return 'Wait, or lower the concurrency; the run can be resumed.'
    case 'over_budget':
      return 'Raise the cap; what is finished is kept and not paid again.'
    case 'timeout':
    case 'unavailable':
      return 'Check the network and the provider; the run can be resumed.'
    case 'malformed':
      return 'Use a stronger model.'
    case 'context':
      return 'Use a model with a longer context.'
    case 'refused':
      return null
  }
}
