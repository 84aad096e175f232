import { appendPrivateLine } from '../../io/private-store.ts'
import { quickId } from '../../io/quick-random.ts'
import type { Note, NoteEntry } from '../contract.ts'
import { ledgerPlace } from './ledger-place.ts'
import { ledgerSeal } from './seal-line.ts'

export interface NoteRequest {
  readonly guardHome: string
  /** Real path of the project. */
  readonly root: string
  readonly note: Note
  readonly nowMs: number
}

/** What a person or a command of ours has to say about a project: it counts in every session, running ones included. */
export function appendNote({ guardHome, root, note, nowMs }: NoteRequest): NoteEntry {
  const { project } = ledgerPlace(guardHome, root, '')
  const entry: NoteEntry = { kind: 'note', id: `n_${quickId(16)}`, at: new Date(nowMs).toISOString(), note }
  appendPrivateLine(project, ledgerSeal(guardHome, project).close(entry))
  return entry
}
