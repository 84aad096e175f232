import { addCost } from '../core/add-cost.ts'
import { addTokens } from '../core/trial.ts'
import { type ModelAnswer, modelFailureOf } from './contract.ts'
import { modelError } from './model-error.ts'

/** A call that fails after others that were paid must not hide what those have cost. */
export async function withCostOf<T>(
  paid: Pick<ModelAnswer<unknown>, 'tokens' | 'costUsd'>,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const failure = modelFailureOf(error)
    if (failure === null) throw error
    throw modelError({
      ...failure,
      tokens: addTokens(paid.tokens, failure.tokens),
      costUsd: addCost(paid.costUsd, failure.costUsd),
    })
  }
}
