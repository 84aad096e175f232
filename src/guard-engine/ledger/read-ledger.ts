import { join } from 'node:path'
import { modifiedAtMs, namesIn } from '../../io/directory.ts'
import { isFile } from '../../io/path-kind.ts'
import { readFrom } from '../../io/read-from.ts'
import type { History, LedgerEntry } from '../contract.ts'
import { historyFold } from '../history/index.ts'
import { ledgerPlace } from './ledger-place.ts'
import { type LineSeal, ledgerSeal } from './seal-line.ts'

/** Every entry of one ledger file once, in order. For reports, not for hooks. */
export function readLedger(guardHome: string, path: string) {
  const { lines } = readTail(path, 0, ledgerSeal(guardHome, path))
  const entries = new Map<string, LedgerEntry>()
  for (const line of lines) {
    if (line.kind === 'entry' && !entries.has(keyOf(line.entry))) entries.set(keyOf(line.entry), line.entry)
  }
  return {
    path,
    entries: [...entries.values()],
    tampered: lines.filter(({ kind }) => kind === 'tampered').length,
    torn: lines.filter(({ kind }) => kind === 'torn').length,
  }
}

/** Two processes may answer the same event when one was given up. The first decision counts. */
export function keyOf(entry: LedgerEntry): string {
  return entry.kind === 'decision' ? `on ${entry.of}` : entry.id
}

/** Ledger files of a project: its own first, then one per session. `root` is the real path of the project. */
export function ledgerFiles(guardHome: string, root: string): readonly string[] {
  const { directory, project } = ledgerPlace(guardHome, root, '')
  const sessions = join(directory, 'sessions')
  return [
    project,
    ...namesIn(sessions)
      .map((name) => join(sessions, name))
      .filter(isFile),
  ]
}

/** How many lines in the project's own ledger and the newest sessions the guard did not write, or not with this key. */
export function foreignLines(guardHome: string, root: string): number {
  const { project } = ledgerPlace(guardHome, root, '')
  const files = [project, ...newestSessions(guardHome, root).slice(0, 20)].filter(isFile)
  return files.reduce((sum, path) => sum + readLedger(guardHome, path).tampered, 0)
}

/** Those of the sessions only, the one that was written last first. */
export function newestSessions(guardHome: string, root: string): readonly string[] {
  const [, ...sessions] = ledgerFiles(guardHome, root)
  return sessions
    .map((path) => ({ path, at: modifiedAtMs(path) ?? 0 }))
    .toSorted((one, other) => other.at - one.at)
    .map(({ path }) => path)
}

/** Ledger files of every project. */
export function allLedgerFiles(guardHome: string): readonly string[] {
  const projects = join(guardHome, 'projects')
  return namesIn(projects).flatMap((name) => {
    const sessions = join(projects, name, 'sessions')
    return [join(projects, name, 'project.jsonl'), ...namesIn(sessions).map((file) => join(sessions, file))]
  })
}

/** The lines of one ledger file from an offset on. */
export type LedgerTail = ReturnType<typeof readTail>

export type LedgerLine =
  | { readonly kind: 'entry'; readonly end: number; readonly entry: LedgerEntry }
  | { readonly kind: 'tampered'; readonly end: number }
  | { readonly kind: 'torn'; readonly end: number }

const newline = 10

/**
 * A line without a line break is left for the next read, because it may still be written. Lines of a file in the `proven` state are not
 * verified again.
 */
export function readTail(path: string, offset: number, seal: LineSeal, proven: string | null = null) {
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
  return {
    lines,
    /** Where the last complete line ends. */
    end: offset + start,
    size,
    /** State of the file when it was read. */
    state,
  }
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

/** Entries of the most recent session, with those that count in every session; only the latter when there was no session. */
export function latestHistory(guardHome: string, root: string): History {
  const { project } = ledgerPlace(guardHome, root, '')
  const entries: LedgerEntry[] = [project, ...newestSessions(guardHome, root).slice(0, 1)]
    // Without a file no secret is needed, and none is made.
    .filter((file) => modifiedAtMs(file) !== null)
    .flatMap((file) => readLedger(guardHome, file).entries)
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return entries.reduce((history, entry) => historyFold.apply(history, entry), historyFold.initial)
}

/** All zero when only the guard changed the ledger. */
export interface LedgerHealth {
  /** Lines that the guard did not write, or that were changed. They do not count. */
  readonly tampered: number
  /** Lines whose writer was killed while writing. */
  readonly torn: number
  /** How often a ledger was shorter than before. What was read from it still counts. */
  readonly truncated: number
}
