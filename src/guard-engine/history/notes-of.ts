import type { LedgerEntry, Note } from '../contract.ts'

/** What an entry wants remembered: the notes of a decision, or one written by a person or another program. */
export function notesOf(entry: LedgerEntry): readonly Note[] {
  switch (entry.kind) {
    case 'event':
      return []
    case 'decision':
      return entry.notes
    case 'note':
      return [entry.note]
  }
}
