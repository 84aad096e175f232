import { backoffMs, type RetryPolicy } from '../retry.ts'
import type { BatchResult, MessageBatches } from './message-batches.ts'
import { type Patience, persist } from './persist.ts'

const polling: RetryPolicy = { attempts: Infinity, firstWaitMs: 5_000, longestWaitMs: 60_000 }

/** Waits for a batch and reads what became of its requests; null when the provider does not know the batch any more. */
export async function awaitResults(
  batches: MessageBatches,
  batch: string,
  patience: Patience,
): Promise<ReadonlyMap<string, BatchResult> | null> {
  const { sleep, random, signal } = patience
  for (let polls = 0; ; polls += 1) {
    const state = await persist(batch, patience, () => batches.state(batch, signal))
    if (state === 'gone') return null
    if (state === 'ended') break
    await sleep(backoffMs(polls, polling, random), signal)
  }
  return persist(batch, patience, async () => {
    const results = new Map<string, BatchResult>()
    for await (const result of batches.results(batch, signal)) results.set(result.id, result)
    return results
  })
}
