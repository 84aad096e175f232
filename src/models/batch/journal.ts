import { z } from 'zod'
import { counted } from '../../core/counted.ts'
import { openJsonl, readJsonl } from '../../io/jsonl.ts'
import { realSleep, type Sleep } from '../retry.ts'

/** Keeps what was handed in and where, so that a run that was killed finds its batches again instead of paying twice. */
export interface BatchJournal {
  /** With the system when it returns. */
  append(entry: BatchEntry): void
  read(): Promise<readonly BatchEntry[]>
}

const entrySchema = z.discriminatedUnion('kind', [
  /** About to be handed in. Without a `submitted` after it, nobody knows whether it was. */
  z.object({ kind: z.literal('submitting'), at: z.string(), requests: z.array(z.string()) }),
  z.object({ kind: z.literal('submitted'), batch: z.string(), requests: z.array(z.string()) }),
  /** The provider does not know it any more: its requests are to be asked anew. */
  z.object({ kind: z.literal('gone'), batch: z.string() }),
  /** It took too long and was cancelled. What it answered nevertheless still counts. */
  z.object({ kind: z.literal('late'), batch: z.string() }),
])

export type BatchEntry = z.output<typeof entrySchema>

/** A journal in a file. Lines that are damaged are passed over: their requests are asked again. */
export function openBatchJournal(path: string): BatchJournal & { close(): void } {
  const writer = openJsonl(path)
  return {
    append: (entry) => {
      writer.append(entry)
      writer.flush()
    },
    read: async () => {
      const entries: BatchEntry[] = []
      for await (const line of readJsonl<unknown>(path)) {
        const entry = entrySchema.safeParse(line)
        if (entry.success) entries.push(entry.data)
      }
      return entries
    },
    close: () => writer.close(),
  }
}

interface KnownBatches {
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

/** A journal that also reports its entries to the user. `comeBack` says how to resume a stopped run. */
export function reportingJournal(
  journal: BatchJournal,
  { note, comeBack }: { note(message: string): void; readonly comeBack: string },
): BatchJournal {
  return {
    append: (entry) => {
      journal.append(entry)
      if (entry.kind === 'submitted')
        note(
          `${callsWait(entry.requests.length)} in a batch (${entry.batch}). That may take an hour, at most a day; Ctrl-C is safe: ${comeBack} finds the answers.`,
        )
      if (entry.kind === 'late')
        note(
          `the batch ${entry.batch} takes too long: it is cancelled, and the rest of it asked call by call`,
        )
    },
    read: async () => {
      const entries = await journal.read()
      const { size } = knownBatches(entries).batchOf
      if (size > 0) note(`${size} judge calls were handed in before; their answers are not paid again`)
      return entries
    },
  }
}

export function callsWait(count: number): string {
  return counted(count, 'judge call waits', 'judge calls wait')
}

/** How much one batch holds. */
export interface BatchSize {
  readonly requests: number
  readonly bytes: number
}

/** What Anthropic takes in one batch. */
const providersMost: BatchSize = { requests: 100_000, bytes: 256 * 1024 * 1024 }

/** A share of what the provider takes, 0 to 1. */
export function batchSize(share: number): BatchSize {
  return {
    requests: Math.floor(providersMost.requests * share),
    bytes: Math.floor(providersMost.bytes * share),
  }
}

const remindAfterMs = 5 * 60_000

/** Reports from time to time that it is still waiting, and ends with `stopped` too. */
export function remindingSleep(stopped: AbortSignal, remind: (waitedMs: number) => void): Sleep {
  let began: number | null = null
  let reportedMs = 0
  return async (ms, signal) => {
    const now = performance.now()
    began ??= now
    if (now - began - reportedMs >= remindAfterMs) {
      reportedMs = now - began
      remind(reportedMs)
    }
    await realSleep(ms, AbortSignal.any([signal, stopped]))
  }
}
