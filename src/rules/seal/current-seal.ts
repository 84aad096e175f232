import { ledgerPlace } from '../ledger/ledger-place.ts'
import { readLedger } from '../ledger/read-ledger.ts'

/** The seal of a project as its ledger has it; null when there is none. */
export function currentSeal(guardHome: string, root: string): Readonly<Record<string, string | null>> | null {
  const { entries } = readLedger(guardHome, ledgerPlace(guardHome, root, '').project)
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'note' && entry.note.kind === 'sealed') return entry.note.files
  }
  return null
}
