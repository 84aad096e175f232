import { readFrom } from '../../io/read-from.ts'
import type { LedgerEntry } from '../contract.ts'
import type { LineSeal } from './seal-line.ts'

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
