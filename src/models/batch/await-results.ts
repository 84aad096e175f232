import { backoffMs, type RetryPolicy } from '../retry.ts'
import type { BatchResult, MessageBatches } from './message-batches.ts'
import { type Patience, persist } from './persist.ts'

export interface BatchPatience extends Patience {
  /** Between two looks at a batch; null: five seconds at first, a minute later. */
  readonly pollMs: number | null
  /** How long a batch is waited for before it is cancelled; null: as long as it takes. */
  readonly timeoutMs: number | null
}

const polling: RetryPolicy = { attempts: Infinity, firstWaitMs: 5_000, longestWaitMs: 60_000 }

/** A cancelled batch ends soon, and what it has answered until then is paid for: worth a little patience. */
const graceMs = 60_000

/**
 * Waits for a batch and reads what became of its requests; null when the provider does not know the batch any more, `late` when
 * it took too long, was cancelled, and did not end soon after.
 */
export async function awaitResults(
  batches: MessageBatches,
  batch: string,
  patience: BatchPatience,
  onLate: () => void,
): Promise<ReadonlyMap<string, BatchResult> | null | 'late'> {
  const { signal, timeoutMs } = patience
  let state = await waitFor(batches, batch, patience, timeoutMs ?? Infinity)
  if (state === 'pending') {
    onLate()
    // It may have ended just now, and then cannot be cancelled.
    await batches.cancel(batch).catch(() => {})
    state = await waitFor(batches, batch, patience, graceMs)
  }
  if (state === 'pending') return 'late'
  if (state === 'gone') return null
  return persist(batch, patience, async () => {
    const results = new Map<string, BatchResult>()
    for await (const result of batches.results(batch, signal)) results.set(result.id, result)
    return results
  })
}

/** `pending` when the batch has not ended after so many milliseconds of waiting. It is looked at once at least. */
async function waitFor(
  batches: MessageBatches,
  batch: string,
  patience: BatchPatience,
  mostMs: number,
): Promise<'pending' | 'ended' | 'gone'> {
  const { sleep, random, signal, pollMs } = patience
  let waitedMs = 0
  for (let polls = 0; ; polls += 1) {
    const state = await persist(batch, patience, () => batches.state(batch, signal))
    if (state !== 'pending' || waitedMs >= mostMs) return state
    const waitMs = Math.min(pollMs ?? backoffMs(polls, polling, random), mostMs - waitedMs)
    await sleep(waitMs, signal)
    waitedMs += waitMs
  }
}
