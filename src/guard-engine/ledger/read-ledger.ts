import { join } from 'node:path'
import { namesIn } from '../../io/directory.ts'
import type { LedgerEntry } from '../contract.ts'
import { ledgerPlace } from './ledger-place.ts'
import { readTail } from './ledger-tail.ts'
import type { LedgerHealth } from './open-ledger.ts'
import { ledgerSeal } from './seal-line.ts'

export interface WholeLedger extends Omit<LedgerHealth, 'truncated'> {
  readonly path: string
  readonly entries: readonly LedgerEntry[]
}

/** Every entry of one ledger file, in its order; for reports, not for hooks. */
export function readLedger(guardHome: string, path: string): WholeLedger {
  const { lines } = readTail(path, 0, ledgerSeal(guardHome, path))
  return {
    path,
    entries: lines.flatMap((line) => (line.kind === 'entry' ? [line.entry] : [])),
    tampered: lines.filter(({ kind }) => kind === 'tampered').length,
    torn: lines.filter(({ kind }) => kind === 'torn').length,
  }
}

/** Files of a project's ledger: its own first, then one per session. `root` is the real path of the project. */
export function ledgerFiles(guardHome: string, root: string): readonly string[] {
  const { directory, project } = ledgerPlace(guardHome, root, '')
  const sessions = join(directory, 'sessions')
  return [project, ...namesIn(sessions).map((name) => join(sessions, name))]
}

/** Ledger files of every project there is. */
export function allLedgerFiles(guardHome: string): readonly string[] {
  const projects = join(guardHome, 'projects')
  return namesIn(projects).flatMap((name) => {
    const sessions = join(projects, name, 'sessions')
    return [join(projects, name, 'project.jsonl'), ...namesIn(sessions).map((file) => join(sessions, file))]
  })
}
