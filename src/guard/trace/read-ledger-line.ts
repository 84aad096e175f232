import { isObject } from '../../core/json-fields.ts'
import type { DecisionEntry, EventEntry, LedgerEntry } from '../../guard-engine/contract.ts'
import { type TraceItem, timeOf } from './read-record.ts'

export interface LedgerReader {
  /** What one line adds to the report; null when it is no line of a ledger. */
  read(value: unknown): readonly TraceItem[] | null
}

/** Calls that began are kept no longer than this many later ones: their end was never told. */
const maxOpen = 1_000

/** A call is told when it ends, or when its decision denies it; until then it is remembered. */
export function openLedgerReader(): LedgerReader {
  const open = new Map<string, EventEntry>()
  return {
    read: (value) => {
      if (!isLedgerEntry(value)) return null
      if (value.kind === 'event') return readEvent(value, open)
      return value.kind === 'decision' ? readDecision(value, open) : []
    },
  }
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
  const action = call?.action
  const isEdit = action === 'write' || action === 'edit' || action === 'patch'
  return {
    kind: 'call',
    atMs: timeOf(entry.at),
    tool: call?.tool ?? '',
    result: denied ? 'denied' : (call?.outcome?.kind ?? 'unknown'),
    edits: isEdit ? (call?.paths ?? []) : [],
    command: call?.command ?? null,
    label: call?.command ?? call?.paths[0] ?? '',
    durationMs: call?.outcome?.durationMs ?? (begun === undefined || denied ? null : between(begun, entry)),
    agentId,
    rule: deniedBy,
    signature: call?.signature ?? null,
  }
}

/** null when the clock went back. */
function between(begun: EventEntry, ended: EventEntry): number | null {
  const durationMs = Date.parse(ended.at) - Date.parse(begun.at)
  return durationMs >= 0 ? durationMs : null
}

/** Lines are our own writing; only their outer shape is looked at. */
function isLedgerEntry(value: unknown): value is LedgerEntry {
  if (!isObject(value) || typeof value.id !== 'string' || typeof value.at !== 'string') return false
  if (value.kind === 'event') return isObject(value.event) && typeof value.event.kind === 'string'
  if (value.kind === 'decision') return typeof value.of === 'string' && Array.isArray(value.findings)
  return value.kind === 'note'
}
