import { ledgerFiles } from '../../guard-engine/ledger/read-ledger.ts'
import { modifiedAtMs } from '../../io/directory.ts'

/** The ledger that was written last; null when the guard has seen no session of the project. `root` is the real path. */
export function newestSession(guardHome: string, root: string): string | null {
  const [, ...sessions] = ledgerFiles(guardHome, root)
  const dated = sessions.map((path) => ({ path, at: modifiedAtMs(path) ?? 0 }))
  return dated.sort((one, other) => other.at - one.at)[0]?.path ?? null
}
