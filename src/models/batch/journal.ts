import { z } from 'zod'
import { openJsonl, readJsonl } from '../../io/jsonl.ts'

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
