import { z } from 'zod'
import { counted } from '../../core/counted.ts'
import { openJsonl, readJsonl } from '../../io/jsonl.ts'
import { realSleep, type Sleep } from '../retry.ts'

/** Records submitted batches, so that a killed run finds them again instead of paying twice. */
export interface BatchJournal {
  /** The entry is written when it returns. */
  append(entry: BatchEntry): void
  read(): Promise<readonly BatchEntry[]>
}

const entrySchema = z.discriminatedUnion('kind', [
  /** About to be submitted. Without a later `submitted` entry it is unknown whether it was. */
  z.object({ kind: z.literal('submitting'), at: z.string(), requests: z.array(z.string()) }),
  z.object({ kind: z.literal('submitted'), batch: z.string(), requests: z.array(z.string()) }),
  /** The provider no longer knows it: its requests must be submitted again. */
  z.object({ kind: z.literal('gone'), batch: z.string() }),
  /** It took too long and was cancelled. The answers it has still count. */
  z.object({ kind: z.literal('late'), batch: z.string() }),
])

export type BatchEntry = z.output<typeof entrySchema>

/** A journal in a file. Damaged lines are skipped: their requests are submitted again. */
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

/** The batches of an earlier process, according to its journal. */
export function knownBatches(entries: readonly BatchEntry[]) {
  /** Submitted requests by id, with their batch. */
  const batchOf = new Map<string, string>()
  /** Every batch so far, including those that are gone. */
  const batches = new Set<string>()
  /** Possibly submitted: the writer was killed before it knew. */
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

/** A journal that also prints its entries for the user. `comeBack` says how to resume a stopped run. */
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
          `batch ${entry.batch} takes too long: it is cancelled, and its unanswered calls are made one by one`,
        )
    },
    read: async () => {
      const entries = await journal.read()
      const { size } = knownBatches(entries).batchOf
      if (size > 0)
        note(
          `${counted(size, 'judge call was', 'judge calls were')} submitted before; their answers are not paid again`,
        )
      return entries
    },
  }
}

export function callsWait(count: number): string {
  return counted(count, 'judge call waits', 'judge calls wait')
}

export interface BatchSize {
  readonly requests: number
  readonly bytes: number
}

/** Anthropic's limits for one batch. */
const providersMost: BatchSize = { requests: 100_000, bytes: 256 * 1024 * 1024 }

/** A fraction of the provider's limits, from 0 to 1. */
export function batchSize(share: number): BatchSize {
  return {
    requests: Math.floor(providersMost.requests * share),
    bytes: Math.floor(providersMost.bytes * share),
  }
}

const remindAfterMs = 5 * 60_000

/** A sleep that calls `remind` at intervals and also ends when `stopped` is aborted. */
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
