import type { BatchJournal } from './journal.ts'
import type { MessageBatches } from './message-batches.ts'
import { type Patience, persist } from './persist.ts'
import type { BatchRequest } from './request-id.ts'

export interface Submission extends Patience {
  readonly batches: MessageBatches
  readonly journal: BatchJournal
  readonly name: string
  readonly now: () => Date
  /** Batches that are known to be others'. */
  readonly isKnown: (batch: string) => boolean
}

/** Clocks differ: a batch may seem to have been made a little before it was handed in. */
const skewMs = 5 * 60_000

/** Hands requests in and gives the batch. What is written to the journal on the way lets a later process find it again. */
export async function submit(
  requests: ReadonlyMap<string, BatchRequest>,
  submission: Submission,
): Promise<string> {
  const { batches, journal, name, now, signal } = submission
  const ids = [...requests.keys()]
  const at = now().toISOString()
  journal.append({ kind: 'submitting', at, requests: ids })
  let isFirst = true
  const batch = await persist(name, submission, async () => {
    // A call that broke off may have been heard nevertheless: another one would be paid twice.
    const heard = isFirst ? null : await findBatch({ at, requests: ids }, submission)
    isFirst = false
    return heard ?? (await batches.submit(requests, signal))
  })
  journal.append({ kind: 'submitted', batch, requests: ids })
  return batch
}

/** The batch of requests that were handed in perhaps; null when there is none that could be it. */
export async function findBatch(
  { at, requests }: { readonly at: string; readonly requests: readonly string[] },
  { batches, isKnown, signal }: Pick<Submission, 'batches' | 'isKnown' | 'signal'>,
): Promise<string | null> {
  const from = new Date(Date.parse(at) - skewMs).toISOString()
  const candidates = await batches.find(from, requests.length, signal)
  return candidates.find((batch) => !isKnown(batch)) ?? null
}
