import { writePrivateAtomic } from '../../io/private-store.ts'
import { readFrom } from '../../io/read-from.ts'
import { sha256 } from '../../io/sha256.ts'
import type { EditHistory, History } from '../contract.ts'
import { packEdits, unpackEdits } from './packed-edits.ts'
import type { LineSeal } from './seal-line.ts'

/**
 * A folded history and how far in the two ledgers it reaches. A cache: without it the same is folded anew. Its file has two
 * lines: what files were edited stands in the second, which grows with their number and is read by those who ask.
 */
export interface Checkpoint {
  /** Of the code that folded. */
  readonly edition: string
  readonly history: Omit<History, 'edits'>
  readonly projectEnd: number
  readonly sessionEnd: number
  /** Latest time folded so far. */
  readonly latest: string
  /** The last entries, so that none of them counts a second time. */
  readonly seen: readonly string[]
  readonly tampered: number
  readonly torn: number
  /** How often a ledger was found shorter than it had been. */
  readonly truncated: number
}

/** With the state of its file. */
export interface KeptCheckpoint {
  readonly checkpoint: Checkpoint
  /** Nobody else has what it gives. */
  readonly loadEdits: () => EditHistory
  readonly state: string | null
}

/** null when there is none, when it is not ours, or when another edition of the guard made it. */
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
  // The two belong together: an older second line is as well sealed as this one.
  if (opened.value.edits !== sha256(second) && !isProven) return null
  const { edits: _, ...checkpoint } = opened.value
  return { checkpoint, loadEdits: () => unpackEdits(JSON.parse(second.toString('utf8'))), state }
}

export function writeCheckpoint(
  path: string,
  checkpoint: Checkpoint,
  edits: EditHistory,
  seal: LineSeal,
): void {
  const second = JSON.stringify(packEdits(edits))
  const stored: StoredCheckpoint = { ...checkpoint, edits: sha256(second) }
  writePrivateAtomic(path, `${seal.close(stored)}\n${second}`)
}

interface StoredCheckpoint extends Checkpoint {
  /** Hash of the second line: the seal of the first holds for both. */
  readonly edits: string
}

const newline = 10

function isStored(value: unknown): value is StoredCheckpoint {
  return typeof value === 'object' && value !== null && 'edition' in value && 'edits' in value
}
