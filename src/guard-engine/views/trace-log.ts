import { join } from 'node:path'
import type { Decision } from '../../core/decision.ts'
import type { EvidenceKind } from '../../core/evidence.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { appendRotating } from '../../io/rotating-log.ts'
import type { EventEntry, Note, StoredCall } from '../contract.ts'
import type { Settings } from '../settings/settings.ts'
import { isEditing } from '../store-event.ts'

/** A line of `trace-log.jsonl`. The first four keys are the documented ones. The others appear when known. */
export interface TraceRecord {
  /** UTC. */
  readonly timestamp: string
  readonly tool: string
  readonly input: unknown
  readonly result: TraceResult
  readonly session?: string
  /** Id of a subagent. */
  readonly agent_id?: string
  readonly exit_code?: number
  readonly duration_ms?: number
  /** Equal for the same tool with the same input. */
  readonly signature?: string
  /** First line of a failure. */
  readonly error?: string
  /** The rule of the guard that denied the call. */
  readonly rule?: string
  /** The call ran a check of the project, and of which kind. */
  readonly verifies?: EvidenceKind
}

export type TraceResult = 'success' | 'failure' | 'denied' | 'unknown'

const maxErrorChars = 200

/**
 * The trace of one event, from its redacted ledger entry. null when there is nothing to trace: no call, a call that is about to start, or
 * one that the settings leave out.
 */
export function traceRecord(
  { at, event }: EventEntry,
  decision: (Pick<Decision, 'verdict' | 'findings'> & { readonly notes?: readonly Note[] }) | null,
  { enabled, logToolCalls, logFileEdits }: Settings['traceLogging'],
): TraceRecord | null {
  const { call } = event
  if (!enabled || call === undefined) return null
  if (!(isEditing(call.action) ? logFileEdits : logToolCalls)) return null
  const result = resultOf(event, call, decision)
  if (result === null) return null
  const rule = decision?.findings.find(({ verdict }) => verdict === 'deny')?.rule
  const { outcome } = call
  const verifies = decision?.notes?.map(kindOfRun).find((kind) => kind !== null)
  return {
    timestamp: utc(at),
    tool: call.tool,
    input: call.input,
    result,
    session: event.session,
    ...(event.agentId !== null && { agent_id: event.agentId }),
    ...(outcome != null && outcome.exitCode !== null && { exit_code: outcome.exitCode }),
    ...(outcome?.durationMs !== undefined && { duration_ms: outcome.durationMs }),
    signature: call.signature,
    ...(result === 'failure' && outcome !== undefined && { error: firstLine(outcome.head) }),
    ...(result === 'denied' && rule !== undefined && { rule }),
    ...(verifies !== undefined && { verifies }),
  }
}

/** The kind of check that a note is about, also when its run proves nothing. */
function kindOfRun(note: Note): EvidenceKind | null {
  if (note.kind === 'evidence') return note.evidence.kind
  return note.kind === 'no_evidence' ? kindOfCommand(note.command) : null
}

function resultOf(
  { kind }: EventEntry['event'],
  call: StoredCall,
  decision: Pick<Decision, 'verdict'> | null,
): TraceResult | null {
  if (kind === 'tool_denied') return 'denied'
  if (kind === 'tool_before') return decision?.verdict === 'deny' ? 'denied' : null
  return kind === 'tool_after' ? (call.outcome?.kind ?? 'unknown') : null
}

function utc(at: string): string {
  const time = Date.parse(at)
  return Number.isNaN(time) ? at : new Date(time).toISOString()
}

function firstLine(head: string): string {
  const line = head.split('\n').find((each) => each.trim() !== '') ?? ''
  return line.trim().slice(0, maxErrorChars)
}

const keptLogs = 3
const bytesPerMb = 1024 * 1024
/** A limit of zero would rotate the log with every line. */
const minBytes = 4 * 1024

interface TraceAppend {
  /** The state directory, `.harness` by default. */
  readonly dir: string
  readonly record: TraceRecord
  readonly maxLogSizeMb: number
}

/** Adds one line to the trace. A log that would exceed the limit becomes `trace-log.1.jsonl`; three old logs are kept. */
export function appendTrace({ dir, record, maxLogSizeMb }: TraceAppend): void {
  appendRotating(
    {
      path: traceLogPath(dir),
      olderPath: (number) => olderTracePath(dir, number),
      keep: keptLogs,
      maxBytes: Math.max(minBytes, maxLogSizeMb * bytesPerMb),
    },
    `${JSON.stringify(record)}\n`,
  )
}

function traceLogPath(dir: string): string {
  return join(dir, 'trace-log.jsonl')
}

/** Every file of a trace, oldest first. Some may not exist. */
export function traceLogPaths(dir: string): readonly string[] {
  const older = Array.from({ length: keptLogs }, (_, index) => olderTracePath(dir, keptLogs - index))
  return [...older, traceLogPath(dir)]
}

function olderTracePath(dir: string, number: number): string {
  return join(dir, `trace-log.${number}.jsonl`)
}
