import { join } from 'node:path'
import { writePrivateAtomic } from '../../io/private-store.ts'
import { readFrom } from '../../io/read-from.ts'
import { ledgerPlace } from './ledger-place.ts'
import { type LineSeal, ledgerSeal } from './seal-line.ts'

/** Where programs are looked for: an agent that could say so itself would say where its own `npm` is. */
export interface RecordedEnvironment {
  readonly at: string
  readonly path: string
  readonly home: string | null
}

/** Keeps what `guard verify` runs commands with, as the agent itself was started. No other variable is stored. */
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
  writePrivateAtomic(file, seal.close(record))
}

/** As the last session of the project began; null when none did. */
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
