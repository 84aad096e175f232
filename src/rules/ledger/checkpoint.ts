import { writePrivateAtomic } from '../../io/private-store.ts'
import { readFrom } from '../../io/read-from.ts'
import type { History } from '../contract.ts'
import type { LineSeal } from './seal-line.ts'

/** A folded history and how far in the two ledgers it reaches. A cache: without it the same is folded anew. */
export interface Checkpoint {
  /** Of the code that folded. */
  readonly edition: string
  readonly history: History
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
  if (bytes.length === 0) return null
  const opened = seal.open(bytes, state === proven)
  if (opened.kind !== 'sealed') return null
  const { value } = opened
  const fits = typeof value === 'object' && value !== null && 'edition' in value && value.edition === edition
  return fits ? { checkpoint: value as Checkpoint, state } : null
}

export function writeCheckpoint(path: string, checkpoint: Checkpoint, seal: LineSeal): void {
  writePrivateAtomic(path, seal.close(checkpoint))
}
