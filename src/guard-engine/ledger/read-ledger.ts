import { join } from 'node:path'
import { modifiedAtMs, namesIn } from '../../io/directory.ts'
import { readFrom } from '../../io/read-from.ts'
import type { History, LedgerEntry } from '../contract.ts'
import { historyFold } from '../history/index.ts'
import { ledgerPlace } from './ledger-place.ts'
import { type LineSeal, ledgerSeal } from './seal-line.ts'

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

/** The lines of one ledger file from some point on. */
export interface LedgerTail {
  readonly lines: readonly LedgerLine[]
  /** Where the last whole line ends. */
  readonly end: number
  readonly size: number
  /** Of the file, as it was read. */
  readonly state: string | null
}

export type LedgerLine =
  | { readonly kind: 'entry'; readonly end: number; readonly entry: LedgerEntry }
  | { readonly kind: 'tampered'; readonly end: number }
  | { readonly kind: 'torn'; readonly end: number }

const newline = 10

/**
 * What is not ended by a line break yet is left for the next look: it may still be on its way. Lines of a file that is in the
 * `proven` state are taken at their word.
 */
export function readTail(
  path: string,
  offset: number,
  seal: LineSeal,
  proven: string | null = null,
): LedgerTail {
  const { bytes, size, state } = readFrom(path, offset)
  const isProven = state !== null && state === proven
  const lines: LedgerLine[] = []
  let start = 0
  for (;;) {
    const at = bytes.indexOf(newline, start)
    if (at === -1) break
    const line = bytes.subarray(start, at)
    start = at + 1
    if (line.length > 0) lines.push(readLine(line, offset + start, seal, isProven))
  }
  return { lines, end: offset + start, size, state }
}

function readLine(line: Uint8Array, end: number, seal: LineSeal, isProven: boolean): LedgerLine {
  const opened = seal.open(line, isProven)
  if (opened.kind !== 'sealed') return { kind: opened.kind, end }
  return isEntry(opened.value) ? { kind: 'entry', end, entry: opened.value } : { kind: 'tampered', end }
}

function isEntry(value: unknown): value is LedgerEntry {
  if (typeof value !== 'object' || value === null || !('kind' in value) || !('id' in value)) return false
  const known = value.kind === 'event' || value.kind === 'decision' || value.kind === 'note'
  return known && typeof value.id === 'string' && 'at' in value && typeof value.at === 'string'
}

/** Of the session that was last written to, with what counts in every session; only the latter when there was none. */
export function latestHistory(guardHome: string, root: string): History {
  const [project = '', ...sessions] = ledgerFiles(guardHome, root)
  const latest = sessions.toSorted((a, b) => (modifiedAtMs(b) ?? 0) - (modifiedAtMs(a) ?? 0))[0]
  const entries: LedgerEntry[] = [project, ...(latest === undefined ? [] : [latest])]
    .flatMap((file) => readLedger(guardHome, file).entries)
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return entries.reduce((history, entry) => historyFold.apply(history, entry), historyFold.initial)
}

/** All zero when the ledger is as the guard left it. */
export interface LedgerHealth {
  /** Lines that are not the guard's, or were changed. They do not count. */
  readonly tampered: number
  /** Lines whose writer was killed in the middle. */
  readonly torn: number
  /** How often a ledger was found shorter than it had been: what was known of it still counts. */
  readonly truncated: number
}
