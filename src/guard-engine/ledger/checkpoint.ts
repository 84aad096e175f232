import { writePrivateAtomic, writePrivateInPlace } from '../../io/private-store.ts'
import { readFrom } from '../../io/read-from.ts'
import { sha256 } from '../../io/sha256.ts'
import type { EditHistory, History } from '../contract.ts'
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

/** An edit history with every path once: every hook reads it, and long paths four times over are most of what there is to read. */
interface PackedEdits extends Pick<EditHistory, 'byAgent' | 'task'> {
  readonly paths: readonly string[]
  /** By the place of the path; 0 where the record does not have it. */
  readonly counts: readonly number[]
  readonly sinceTask?: readonly number[]
  readonly sinceGreen?: readonly number[]
  /** By the place of the path; null where there are none. */
  readonly contents: readonly (readonly (string | null)[] | null)[]
}

export function packEdits({ counts, sinceTask, sinceGreen, contents, ...rest }: EditHistory): PackedEdits {
  const records = [counts, sinceTask ?? {}, sinceGreen ?? {}, contents]
  const paths = [...new Set(records.flatMap((record) => Object.keys(record)))]
  const numbers = (record: Readonly<Record<string, number>>): readonly number[] =>
    paths.map((path) => record[path] ?? 0)
  return {
    ...rest,
    paths,
    counts: numbers(counts),
    ...(sinceTask !== undefined && { sinceTask: numbers(sinceTask) }),
    ...(sinceGreen !== undefined && { sinceGreen: numbers(sinceGreen) }),
    contents: paths.map((path) => contents[path] ?? null),
  }
}

export function unpackEdits(packed: PackedEdits): EditHistory {
  const { paths, counts, sinceTask, sinceGreen, contents, ...rest } = packed
  const record = <Value>(values: readonly (Value | null)[]): Record<string, Value> => {
    // Without a prototype it is a table from the start, and filled in a fifth of the time.
    const found: Record<string, Value> = Object.create(null)
    paths.forEach((path, index) => {
      const value = values[index]
      if (value !== null && value !== undefined && value !== 0) found[path] = value
    })
    return found
  }
  return {
    ...rest,
    counts: record(counts),
    ...(sinceTask !== undefined && { sinceTask: record(sinceTask) }),
    ...(sinceGreen !== undefined && { sinceGreen: record(sinceGreen) }),
    contents: record(contents),
  }
}

/**
 * In which state the files of a ledger were when every line in them was last proven. A file that is still in that state was
 * touched by nobody since and need not be proven again, which is most of what a hook would do. Only a cache.
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
  // Half of it is no seal, and then everything is proven once more.
  writePrivateInPlace(path, seal.close(state))
}
