import { writePrivateInPlace } from '../../io/private-store.ts'
import { readFrom } from '../../io/read-from.ts'
import type { LineSeal } from './seal-line.ts'

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
