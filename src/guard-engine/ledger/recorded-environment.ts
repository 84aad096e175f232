import { join } from 'node:path'
import { writePrivateFileAtomic } from '../../io/private-files.ts'
import { readFrom } from '../../io/read-from.ts'
import { ledgerPlace } from './ledger-place.ts'
import { type LineSeal, ledgerSeal } from './seal-line.ts'

/** Recorded, because an agent that could set it later could point to its own `npm`. */
export interface RecordedEnvironment {
  readonly at: string
  readonly path: string
  readonly home: string | null
}

/** Records the search paths for `guard verify` at the start of the agent. No other variable is stored. */
export function keepEnvironment(
  guardHome: string,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  nowMs: number,
): void {
  const { file, seal } = placeOf(guardHome, root)
  const record: RecordedEnvironment = {
    at: new Date(nowMs).toISOString(),
    path: env.PATH ?? '',
    home: env.HOME ?? null,
  }
  writePrivateFileAtomic(file, seal.close(record))
}

/** From the start of the last session of the project; null when there was none. */
export function recordedEnvironment(guardHome: string, root: string): RecordedEnvironment | null {
  const { file, seal } = placeOf(guardHome, root)
  const { bytes } = readFrom(file, 0)
  const opened = bytes.length === 0 ? null : seal.open(bytes)
  return opened?.kind === 'sealed' ? (opened.value as RecordedEnvironment) : null
}

function placeOf(guardHome: string, root: string): { readonly file: string; readonly seal: LineSeal } {
  const file = join(ledgerPlace(guardHome, root, '').directory, 'environment.json')
  return { file, seal: ledgerSeal(guardHome, file) }
}
