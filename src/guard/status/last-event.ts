import { ledgerFiles, readLedger } from '../../guard-engine/ledger/read-ledger.ts'
import { modifiedAtMs } from '../../io/directory.ts'

/** Older sessions than so many tell nothing about whether the guard is armed now. */
const sessionsMax = 20

/** When each agent last called a hook in this project, ISO 8601, as its ledger tells. `root` is the real path. */
export function lastEvents(guardHome: string, root: string): ReadonlyMap<string, string> {
  const [, ...sessions] = ledgerFiles(guardHome, root)
  const newest = sessions
    .map((path) => ({ path, at: modifiedAtMs(path) ?? 0 }))
    .sort((one, other) => other.at - one.at)
    .slice(0, sessionsMax)
  const found = new Map<string, string>()
  for (const { path } of newest) {
    for (const entry of readLedger(guardHome, path).entries) {
      if (entry.kind !== 'event') continue
      const { agent } = entry.event
      if (entry.at > (found.get(agent) ?? '')) found.set(agent, entry.at)
    }
  }
  return found
}
