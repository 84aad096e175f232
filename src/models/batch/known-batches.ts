import type { BatchEntry } from './journal.ts'

export interface KnownBatches {
  /** Requests, by id, that were handed in, and in which batch. */
  readonly batchOf: ReadonlyMap<string, string>
  /** Every batch there was, also those that are gone. */
  readonly batches: ReadonlySet<string>
  /** Handed in perhaps: the writer was killed before it knew. */
  readonly unsure: readonly { readonly at: string; readonly requests: readonly string[] }[]
}

/** What a journal tells about the batches of an earlier process. */
export function knownBatches(entries: readonly BatchEntry[]): KnownBatches {
  const batchOf = new Map<string, string>()
  const batches = new Set<string>()
  let unsure: { at: string; requests: readonly string[] }[] = []
  for (const entry of entries)
    switch (entry.kind) {
      case 'submitting':
        unsure.push(entry)
        break
      case 'submitted': {
        const submitted = new Set(entry.requests)
        batches.add(entry.batch)
        for (const request of submitted) batchOf.set(request, entry.batch)
        unsure = unsure.filter(({ requests }) => !requests.some((request) => submitted.has(request)))
        break
      }
      case 'gone':
        for (const [request, batch] of batchOf) if (batch === entry.batch) batchOf.delete(request)
        break
      case 'late':
        break
    }
  return { batchOf, batches, unsure }
}
