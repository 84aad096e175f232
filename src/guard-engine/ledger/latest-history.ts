import { modifiedAtMs } from '../../io/directory.ts'
import type { History, LedgerEntry } from '../contract.ts'
import { historyFold } from '../history/index.ts'
import { ledgerFiles, readLedger } from './read-ledger.ts'

/** Of the session that was last written to, with what counts in every session; only the latter when there was none. */
export function latestHistory(guardHome: string, root: string): History {
  const [project = '', ...sessions] = ledgerFiles(guardHome, root)
  const latest = sessions.toSorted((a, b) => (modifiedAtMs(b) ?? 0) - (modifiedAtMs(a) ?? 0))[0]
  const entries: LedgerEntry[] = [project, ...(latest === undefined ? [] : [latest])]
    .flatMap((file) => readLedger(guardHome, file).entries)
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return entries.reduce((history, entry) => historyFold.apply(history, entry), historyFold.initial)
}
