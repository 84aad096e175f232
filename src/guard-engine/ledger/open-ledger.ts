import { appendPrivateLine } from '../../io/private-store.ts'
import { quickId } from '../../io/quick-random.ts'
import { sizeOf, stateOf } from '../../io/read-from.ts'
import type { DecisionEntry, History, LedgerEntry, Note, NoteEntry } from '../contract.ts'
import { type GrowingHistory, growHistory, historyFold } from '../history/index.ts'
import {
  type Checkpoint,
  type ProvenState,
  readCheckpoint,
  readProvenState,
  writeCheckpoint,
  writeProvenState,
} from './checkpoint.ts'
import { type LedgerPlace, ledgerPlace } from './ledger-place.ts'
import { type LedgerHealth, type LedgerLine, type LedgerTail, readTail } from './read-ledger.ts'
import { guardKey, type LineSeal, ledgerSeal } from './seal-line.ts'

/** The history of one session of one project, read from the ledger as far as one wants, and the ledger to append to. */
export interface GuardLedger {
  readonly place: LedgerPlace
  /** As far as it was read; what was handed out earlier is only good until it is read on. */
  readonly history: History
  readonly health: LedgerHealth
  /**
   * Reads on: everything there is by now, or up to and including the entry with this id, in the order of the ledger.
   * false when there is no such entry.
   */
  advance(until?: string): boolean
  append(entry: LedgerEntry): void
  /** Is this entry among those that were read lately? */
  has(id: string): boolean
  /** The first decision on an event, when it was read by this reader. */
  decisionOn(eventId: string): DecisionEntry | null
  /** Did somebody append since it was read to its end? */
  hasGrown(): boolean
  /** Keeps what was found out, so that the next one need not: to be called after everything was read. */
  keep(): void
}

export interface LedgerRequest {
  readonly guardHome: string
  /** Real path of the project. */
  readonly root: string
  readonly session: string
  /** Of the code that folds: a checkpoint of another one is passed over. */
  readonly edition: string
}

/** Verifying and folding less than this is quicker than it is worth to keep the result. */
const worthKeepingBytes = 24 * 1024
const maxSeen = 256

export function openLedger(request: LedgerRequest): GuardLedger {
  const place = ledgerPlace(request.guardHome, request.root, request.session)
  const key = guardKey(request.guardHome)
  const seals = {
    project: ledgerSeal(request.guardHome, place.project, key),
    session: ledgerSeal(request.guardHome, place.session, key),
  }
  const proven = readProvenState(place.proven, seals.session)
  const kept = readCheckpoint(place.checkpoint, request.edition, seals.session, proven.checkpoint)
  const start = kept?.checkpoint ?? emptyCheckpoint(request.edition)
  const growing = growHistory(start.history, kept?.loadEdits ?? (() => historyFold.initial.edits))
  return reader(place, seals, start, { ...proven, checkpoint: kept?.state ?? null }, growing)
}

function emptyCheckpoint(edition: string): Checkpoint {
  const { edits: _, ...history } = historyFold.initial
  const latest = ''
  const health = { tampered: 0, torn: 0, truncated: 0 }
  return { edition, history, projectEnd: 0, sessionEnd: 0, latest, seen: [], ...health }
}

function reader(
  place: LedgerPlace,
  seals: { readonly project: LineSeal; readonly session: LineSeal },
  start: Checkpoint,
  proven: ProvenState,
  growing: GrowingHistory,
): GuardLedger {
  let { projectEnd, sessionEnd, latest, tampered, torn, truncated } = start
  let keptAt = projectEnd + sessionEnd
  let sessionSize = sessionEnd
  let states = proven
  let waiting: readonly LedgerLine[] = []
  const seen = new Set(start.seen)
  const decisions = new Map<string, DecisionEntry>()

  const take = (line: LedgerLine): void => {
    if (line.kind === 'tampered') tampered += 1
    else if (line.kind === 'torn') torn += 1
    else if (!seen.has(keyOf(line.entry))) {
      const { entry } = line
      seen.add(keyOf(entry))
      if (entry.kind === 'decision') decisions.set(entry.of, entry)
      if (entry.at > latest) latest = entry.at
      growing.take(entry)
    }
  }

  /** A ledger that lost its end is read again from its start: what is known of it is passed over by its id. */
  const from = (path: string, end: number): number => {
    if (sizeOf(path) >= end) return end
    truncated += 1
    keptAt = Number.NEGATIVE_INFINITY
    return 0
  }

  return {
    place,
    get history() {
      return growing.history
    },
    get health() {
      return { tampered, torn, truncated }
    },
    has: (id) => seen.has(id),
    decisionOn: (id) => decisions.get(id) ?? null,
    append: (entry) => appendPrivateLine(place.session, seals.session.close(entry)),
    advance: (until) => {
      // The session first: a note that is written meanwhile must not come before an event it followed.
      const session = readTail(place.session, from(place.session, sessionEnd), seals.session, states.session)
      const project = readTail(place.project, from(place.project, projectEnd), seals.project, states.project)
      states = { ...states, session: provenBy(session), project: provenBy(project) }
      projectEnd = project.end
      sessionSize = session.size
      const notes = [...waiting, ...project.lines]
      const takeNotes = (upTo: string): void => {
        for (let note = notes[0]; note !== undefined; note = notes[0]) {
          if (note.kind === 'entry' && note.entry.at > upTo && note.entry.at > latest) break
          take(note)
          notes.shift()
        }
      }
      for (const line of session.lines) {
        if (line.kind === 'entry') takeNotes(line.entry.at)
        take(line)
        if (until === undefined || line.kind !== 'entry' || line.entry.id !== until) continue
        sessionEnd = line.end
        waiting = notes
        return true
      }
      for (const note of notes) take(note)
      waiting = []
      sessionEnd = session.end
      return until === undefined
    },
    hasGrown: () => sizeOf(place.session) !== sessionSize,
    keep: () => {
      if (waiting.length > 0) return
      if (projectEnd + sessionEnd - keptAt >= worthKeepingBytes) writeKept()
      writeProvenState(place.proven, states, seals.session)
    },
  }

  function writeKept(): void {
    const { edition } = start
    const health = { tampered, torn, truncated }
    const { edits, ...history } = growing.history
    const lately = [...seen].slice(-maxSeen)
    const checkpoint = { edition, history, projectEnd, sessionEnd, latest, seen: lately, ...health }
    writeCheckpoint(place.checkpoint, checkpoint, edits, seals.session)
    keptAt = projectEnd + sessionEnd
    states = { ...states, checkpoint: stateOf(place.checkpoint) }
  }
}

/** A file with foreign lines in it has to be proven every time, until they lie before the checkpoint. */
function provenBy({ lines, state }: LedgerTail): string | null {
  return lines.some(({ kind }) => kind === 'tampered') ? null : state
}

/** Two processes may answer the same event when one of them was given up: the first decision on it is the one that counts. */
function keyOf(entry: LedgerEntry): string {
  return entry.kind === 'decision' ? `on ${entry.of}` : entry.id
}

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

/** What a person should know of a ledger that is not as the guard left it; null when it is. */
export function healthNotice({ tampered, truncated }: LedgerHealth): string | null {
  const found = [
    ...(tampered > 0
      ? [`${tampered === 1 ? 'a line' : `${tampered} lines`} the guard did not write, which do not count`]
      : []),
    ...(truncated > 0 ? ['a part of it is missing; what was known of it still counts'] : []),
  ]
  return found.length === 0
    ? null
    : `The guard's ledger was changed by somebody else: ${found.join('; ')}. See gantry guard status.`
}
