import { writePrivateFileAtomic, writePrivateFileInPlace } from '../../io/private-files.ts'
import { readFrom } from '../../io/read-from.ts'
import { sha256 } from '../../io/sha256.ts'
import type { EditHistory, History } from '../contract.ts'
import type { LineSeal } from './seal-line.ts'

/**
 * A folded history, and how far it reaches in the two ledgers. Only a cache. The file has two lines: the second has the edited files, grows
 * with their number and is read on demand.
 */
export interface Checkpoint {
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

/** A checkpoint with the state of its file. */
export interface KeptCheckpoint {
  readonly checkpoint: Checkpoint
  /** The caller owns the result. */
  readonly loadEdits: () => EditHistory
  readonly state: string | null
}

/** null when it is missing, not ours, or made by another edition of the guard. */
export function readCheckpoint(
  path: string,
  edition: string,
  seal: LineSeal,
  proven: string | null,
): KeptCheckpoint | null {
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
  return { checkpoint, loadEdits: () => JSON.parse(second.toString('utf8')), state }
}

export function writeCheckpoint(
  path: string,
  checkpoint: Checkpoint,
  edits: EditHistory,
  seal: LineSeal,
): void {
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
export interface ProvenState {
  readonly session: string | null
  readonly project: string | null
  readonly checkpoint: string | null
}

const nothing: ProvenState = { session: null, project: null, checkpoint: null }

export function readProvenState(path: string, seal: LineSeal): ProvenState {
  const line = readFrom(path, 0).bytes.toString('latin1').trimEnd()
  if (line === '') return nothing
  const opened = seal.open(Buffer.from(line, 'latin1'))
  return opened.kind === 'sealed' ? (opened.value as ProvenState) : nothing
}

export function writeProvenState(path: string, state: ProvenState, seal: LineSeal): void {
  // A partial write has no valid seal, and then everything is verified again.
  writePrivateFileInPlace(path, seal.close(state))
}
