import { GantryError } from '../../core/error.ts'
import type { EvidenceKind } from '../../core/evidence.ts'
import { isObject } from '../../core/json-fields.ts'
import type { DecisionEntry, EventEntry, LedgerEntry } from '../../guard-engine/contract.ts'
import { isEditing } from '../../guard-engine/store-event.ts'
import { readJsonlBatches } from '../../io/jsonl.ts'
import { isFile } from '../../io/path-kind.ts'
import { foldTrace } from './fold-trace.ts'
import { readRecord, type TraceItem, timeOf } from './read-record.ts'
import type { TraceReport } from './trace-report.ts'

export interface TraceRequest {
  /** In chronological order. */
  readonly files: readonly string[]
  readonly editThreshold: number
  /** Epoch ms. Records that are older or have no time are left out. */
  readonly sinceMs?: number
}

/**
 * Reads a trace log, ours or the original's, or a ledger of the guard, and summarizes it in one pass with bounded memory. Invalid lines are
 * counted and skipped. Throws GantryError NOT_FOUND.
 */
export async function readTrace({ files, editThreshold, sinceMs }: TraceRequest): Promise<TraceReport> {
  const fold = foldTrace({ editThreshold })
  const ledger = openLedgerReader()
  let brokenLines = 0
  let leftOut = 0
  let ledgerLines = 0
  let traceLines = 0

  function add(item: TraceItem): void {
    if (sinceMs !== undefined && (item.atMs === null || item.atMs < sinceMs)) leftOut += 1
    else fold.add(item)
  }

  for (const file of files) {
    if (!isFile(file)) throw notFound(file)
    const broken = (): void => {
      brokenLines += 1
    }
    for await (const batch of readJsonlBatches<unknown>(file, broken)) {
      for (const value of batch) {
        const record = readRecord(value)
        if (record !== null) {
          traceLines += 1
          add(record)
          continue
        }
        const items = ledger.read(value)
        if (items === null) brokenLines += 1
        else {
          ledgerLines += 1
          for (const item of items) add(item)
        }
      }
    }
  }
  return fold.finish({
    files,
    kind: ledgerLines > traceLines ? 'ledger' : 'trace',
    broken_lines: brokenLines,
    left_out: leftOut,
  })
}

function notFound(file: string): GantryError {
  return new GantryError('NOT_FOUND', `no trace at ${file}`, {
    hint: 'Name the file, or run a guarded agent in this project first: trace_logging in harness.json must be on.',
  })
}

/** A call without an end is dropped after this many later calls. */
const maxOpen = 1_000

/** A call is reported when it ends or is denied. Until then it is kept. */
function openLedgerReader() {
  const open = new Map<string, EventEntry>()
  const checks = new Map<string, EvidenceKind>()
  return {
    /** The items that one line adds; null when it is not a ledger line. */
    read: (value: unknown): readonly TraceItem[] | null => {
      if (!isLedgerEntry(value)) return null
      if (value.kind === 'event') {
        for (const { command, kind } of value.event.facts.project?.commands ?? []) checks.set(command, kind)
        return readEvent(value, open).map((item) => withCheck(item, checks))
      }
      return value.kind === 'decision' ? readDecision(value, open) : []
    },
  }
}

/** Commands of the project that are no known test runner are recognized by their text. */
function withCheck(item: TraceItem, checks: ReadonlyMap<string, EvidenceKind>): TraceItem {
  if (item.kind !== 'call' || item.command === null) return item
  const parts = item.command.split(/&&|[;|\n]/).map((part) => part.trim())
  const found = parts.find((part) => checks.has(part))
  return found === undefined ? item : { ...item, verifies: checks.get(found) ?? null }
}

function readEvent(entry: EventEntry, open: Map<string, EventEntry>): readonly TraceItem[] {
  const { call, kind } = entry.event
  if (call === undefined) return []
  const key = call.id ?? call.signature
  if (kind === 'tool_before') {
    open.delete(key)
    open.set(key, entry)
    const [oldest] = open.keys()
    if (open.size > maxOpen && oldest !== undefined) open.delete(oldest)
    return []
  }
  const begun = open.get(key)
  open.delete(key)
  return kind === 'tool_after' || kind === 'tool_denied' ? [callOf(entry, begun, null)] : []
}

function readDecision(entry: DecisionEntry, open: Map<string, EventEntry>): readonly TraceItem[] {
  if (entry.verdict === 'pass') return []
  const rule = entry.findings.find(({ verdict }) => verdict === entry.verdict)?.rule ?? 'unknown'
  if (entry.verdict === 'deny')
    for (const [key, begun] of open)
      if (begun.id === entry.of) {
        open.delete(key)
        return [callOf(begun, undefined, rule)]
      }
  return [{ kind: 'refusal', atMs: timeOf(entry.at), verdict: entry.verdict, rule }]
}

/** `deniedBy`: the guard's rule, when the call never ran because of it. */
function callOf(entry: EventEntry, begun: EventEntry | undefined, deniedBy: string | null): TraceItem {
  const { call, agentId, kind } = entry.event
  const denied = deniedBy !== null || kind === 'tool_denied'
  return {
    kind: 'call',
    atMs: timeOf(entry.at),
    tool: call?.tool ?? '',
    result: denied ? 'denied' : (call?.outcome?.kind ?? 'unknown'),
    edits: call !== undefined && isEditing(call.action) ? call.paths : [],
    command: call?.command ?? null,
    label: call?.command ?? call?.paths[0] ?? '',
    durationMs: call?.outcome?.durationMs ?? (begun === undefined || denied ? null : between(begun, entry)),
    agentId,
    rule: deniedBy,
    signature: call?.signature ?? null,
    verifies: null,
  }
}

/** null when the clock went back. */
function between(begun: EventEntry, ended: EventEntry): number | null {
  const durationMs = Date.parse(ended.at) - Date.parse(begun.at)
  return durationMs >= 0 ? durationMs : null
}

/** We write these lines ourselves, so only the outer shape is checked. */
function isLedgerEntry(value: unknown): value is LedgerEntry {
  if (!isObject(value) || typeof value.id !== 'string' || typeof value.at !== 'string') return false
  if (value.kind === 'event') return isObject(value.event) && typeof value.event.kind === 'string'
  if (value.kind === 'decision') return typeof value.of === 'string' && Array.isArray(value.findings)
  return value.kind === 'note'
}
