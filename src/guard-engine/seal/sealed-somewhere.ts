import { basename } from 'node:path'
import { allLedgerFiles } from '../ledger/read-ledger.ts'
import { sealIn } from './current-seal.ts'

/** Every path the current seal of some project expects to be there: taking one away would break that seal. */
export function sealedSomewhere(guardHome: string): ReadonlySet<string> {
  const projects = allLedgerFiles(guardHome).filter((path) => basename(path) === 'project.jsonl')
  const files = projects.flatMap((path) => Object.entries(sealIn(guardHome, path) ?? {}))
  return new Set(files.filter(([, hash]) => hash !== null).map(([path]) => path))
}
