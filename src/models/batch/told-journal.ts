import { counted } from '../../core/counted.ts'
import type { BatchJournal } from './journal.ts'
import { knownBatches } from './known-batches.ts'

/** A journal that tells people what it is told. `comeBack` says how to take a stopped run up again. */
export function toldJournal(
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
