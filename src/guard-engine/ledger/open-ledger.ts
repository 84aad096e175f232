import { counted } from '../../core/counted.ts'
import { appendPrivateLine, writePrivateFileAtomic, writePrivateFileInPlace } from '../../io/private-files.ts'
import { quickId } from '../../io/quick-random.ts'
import { readFrom, sizeOf, stateOf } from '../../io/read-from.ts'
import { sha256 } from '../../io/sha256.ts'
import type { DecisionEntry, EditHistory, History, LedgerEntry, Note, NoteEntry } from '../contract.ts'
import { type GrowingHistory, growHistory, historyFold } from '../history/index.ts'
import { type LedgerPlace, ledgerPlace } from './ledger-place.ts'
import { keyOf, type LedgerHealth, type LedgerLine, type LedgerTail, readTail } from './read-ledger.ts'
import { guardKey, type LineSeal, ledgerSeal } from './seal-line.ts'

/** The history of one session, read from the ledger as far as requested, and the ledger to append to. */
export interface GuardLedger {
  readonly place: LedgerPlace
  /** The history as far as it was read. A returned value is valid only until more is read. */
  readonly history: History
  readonly health: LedgerHealth
  /** Reads all entries, or those up to and including this id, in ledger order. false when the entry does not exist. */
  advance(until?: string): boolean
  append(entry: LedgerEntry): void
  /** Whether this entry is among the recently read ones. */
  has(id: string): boolean
  /** The first decision on an event, if this reader has read it. */
  decisionOn(eventId: string): DecisionEntry | null
  /** Whether entries were appended since everything was read. */
  hasGrown(): boolean
  /** Whether its lines are still sealed with the key of the guard. */
  isCurrent(): boolean
  /** Stores a checkpoint for the next reader. Call it after everything was read. */
  keep(): void
}

export interface LedgerRequest {
  readonly guardHome: string
  /** Real path of the project. */
  readonly root: string
  readonly session: string
  /** Edition of the code that folds. Checkpoints of other editions are ignored. */
  readonly edition: string
}

/** Below this size, storing a checkpoint costs more than it saves. */
const worthKeepingBytes = 8 * 1024
const maxSeen = 256
/** In a process that reads for a long time. */
const maxSeenHere = 4096

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
      dropOldest(seen, maxSeenHere)
      dropOldest(decisions, maxSeen)
    }
  }

  /** A ledger that lost its end is read again from the start. Known entries are skipped by id. */
  const tailOf = (name: 'session' | 'project', end: number): LedgerTail => {
    const tail = readTail(place[name], end, seals[name], states[name])
    if (tail.size >= end) return tail
    truncated += 1
    keptAt = Number.NEGATIVE_INFINITY
    return readTail(place[name], 0, seals[name], states[name])
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
      // The session first: a note written meanwhile must not come before an event that it followed.
      const session = tailOf('session', sessionEnd)
      const project = tailOf('project', projectEnd)
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
    isCurrent: seals.session.isCurrent,
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

function dropOldest(from: Set<string> | Map<string, unknown>, max: number): void {
  if (from.size > max) from.delete(from.keys().next().value ?? '')
}

/** A file with foreign lines must be verified every time, until they are behind the checkpoint. */
function provenBy({ lines, state }: LedgerTail): string | null {
  return lines.some(({ kind }) => kind === 'tampered') ? null : state
}

export interface NoteRequest {
  readonly guardHome: string
  /** Real path of the project. */
  readonly root: string
  readonly note: Note
  readonly nowMs: number
}

/** A note of a person or of a command about a project. It counts in every session, including running ones. */
export function appendNote({ guardHome, root, note, nowMs }: NoteRequest): NoteEntry {
  const { project } = ledgerPlace(guardHome, root, '')
  const entry: NoteEntry = { kind: 'note', id: `n_${quickId(16)}`, at: new Date(nowMs).toISOString(), note }
  appendPrivateLine(project, ledgerSeal(guardHome, project).close(entry))
  return entry
}

/** A message for the user when the ledger was changed by others; null when it was not. */
export function healthNotice({ tampered, truncated }: LedgerHealth): string | null {
  const found = [
    ...(tampered > 0 ? [`${counted(tampered, 'line')} not written by the guard (ignored)`] : []),
    ...(truncated > 0 ? ['a part of it is missing, but what was read from it before still counts'] : []),
  ]
  return found.length === 0
    ? null
    : `The guard's ledger was changed by another program: ${found.join('; ')}. See gantry guard status.`
}

/**
 * A folded history, and how far it reaches in the two ledgers. Only a cache. The file has two lines: the second has the edited files, grows
 * with their number and is read on demand.
 */
interface Checkpoint {
  /** Edition of the code that folded. */
  readonly edition: string
  readonly history: Omit<History, 'edits'>
  readonly projectEnd: number
  readonly sessionEnd: number
  /** Latest time folded so far. */
  readonly latest: string
  /** The last entries, so that none counts twice. */
  readonly seen: readonly string[]
  readonly tampered: number
  readonly torn: number
  /** How often a ledger was shorter than before. */
  readonly truncated: number
}

/** A checkpoint with the state of its file; null when it is missing, not ours, or made by another edition of the guard. */
function readCheckpoint(path: string, edition: string, seal: LineSeal, proven: string | null) {
  const { bytes, state } = readFrom(path, 0)
  const end = bytes.indexOf(newline)
  if (end === -1) return null
  const [first, second] = [bytes.subarray(0, end), bytes.subarray(end + 1)]
  const isProven = state !== null && state === proven
  const opened = seal.open(first, isProven)
  if (opened.kind !== 'sealed' || !isStored(opened.value) || opened.value.edition !== edition) return null
  // The two lines belong together: an older second line would have a valid seal too.
  if (!isProven && opened.value.edits !== sha256(second)) return null
  const { edits: _, ...checkpoint } = opened.value
  return {
    checkpoint,
    /** The caller owns the result. */
    loadEdits: (): EditHistory => JSON.parse(second.toString('utf8')),
    state,
  }
}

function writeCheckpoint(path: string, checkpoint: Checkpoint, edits: EditHistory, seal: LineSeal): void {
  const second = JSON.stringify(edits)
  const stored: StoredCheckpoint = { ...checkpoint, edits: sha256(second) }
  writePrivateFileAtomic(path, `${seal.close(stored)}\n${second}`)
}

interface StoredCheckpoint extends Checkpoint {
  /** Hash of the second line, so that the seal of the first covers both. */
  readonly edits: string
}

const newline = 10

function isStored(value: unknown): value is StoredCheckpoint {
  return typeof value === 'object' && value !== null && 'edition' in value && 'edits' in value
}

/**
 * The state of the ledger files when every line was last verified. A file still in that state need not be verified again, which saves most
 * of a hook's work. Only a cache.
 */
interface ProvenState {
  readonly session: string | null
  readonly project: string | null
  readonly checkpoint: string | null
}

const nothing: ProvenState = { session: null, project: null, checkpoint: null }

function readProvenState(path: string, seal: LineSeal): ProvenState {
  const line = readFrom(path, 0).bytes.toString('latin1').trimEnd()
  if (line === '') return nothing
  const opened = seal.open(Buffer.from(line, 'latin1'))
  return opened.kind === 'sealed' ? (opened.value as ProvenState) : nothing
}

function writeProvenState(path: string, state: ProvenState, seal: LineSeal): void {
  // A partial write has no valid seal, and then everything is verified again.
  writePrivateFileInPlace(path, seal.close(state))
}
