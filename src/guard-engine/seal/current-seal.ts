import { ledgerPlace } from '../ledger/ledger-place.ts'
import { readLedger } from '../ledger/read-ledger.ts'

/** The seal of a project as its ledger has it; null when there is none. */
export function currentSeal(guardHome: string, root: string): Readonly<Record<string, string | null>> | null {
  return sealIn(guardHome, ledgerPlace(guardHome, root, '').project)
}

/** The same for the ledger file of a project. */
export function sealIn(guardHome: string, path: string): Readonly<Record<string, string | null>> | null {
  for (const entry of readLedger(guardHome, path).entries.toReversed()) {
    if (entry.kind === 'note' && entry.note.kind === 'sealed') return entry.note.files
  }
  return null
}
