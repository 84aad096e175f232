import { noTokens } from '../../core/trial.ts'
import { failureOf } from '../ai-sdk/failure.ts'
import { modelError } from '../model-error.ts'
import { type RetryPolicy, retryWaitMs, type Sleep } from '../retry.ts'

export interface Patience {
  readonly sleep: Sleep
  readonly random: () => number
  readonly signal: AbortSignal
}

/** A batch may take a day: a server that breaks down meanwhile gets more time than one that is asked a single question. */
const patient: RetryPolicy = { attempts: 10, firstWaitMs: 1_000, longestWaitMs: 60_000 }

/** Calls again while what goes wrong may pass. Throws as a model does when it does not. */
export async function persist<T>(
  name: string,
  { sleep, random, signal }: Patience,
  call: () => Promise<T>,
): Promise<T> {
  for (let calls = 1; ; calls += 1) {
    signal.throwIfAborted()
    try {
      return await call()
    } catch (error) {
      const failure = signal.aborted ? null : failureOf(error)
      if (failure === null) throw error
      const passing = failure.passing ?? (failure.reason === 'timeout' ? true : undefined)
      const waitMs = retryWaitMs(
        { ...failure, ...(passing !== undefined && { passing }) },
        calls,
        patient,
        random,
      )
      if (waitMs === null)
        throw modelError({ ...failure, message: `${name}: ${failure.message}`, tokens: noTokens, costUsd: 0 })
      await sleep(waitMs, signal)
    }
  }
}
