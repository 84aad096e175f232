import type { EvidenceKind } from '../../core/evidence.ts'
import { isObject } from '../../core/json-fields.ts'

const editTools =
  /^(?:edit|write|multiedit|notebookedit|apply_patch|replace|write_file|edit_file|create|str_replace\w*)$/i
const shellTools = /^(?:bash|shell|powershell|run_shell_command|local_shell|exec_command|terminal|execute)$/i
const none: readonly string[] = []
const results = new Set(['success', 'failure', 'denied', 'unknown'])

/**
 * A line of `trace-log.jsonl`, ours or the original's. The original has four keys, `input` may be text and `result` is always "success".
 * null when the line is not a record.
 */
export function readRecord(value: unknown): TraceCall | null {
  if (!isObject(value)) return null
  const { timestamp, tool, input, result, duration_ms, agent_id, rule, signature, verifies } = value
  if (typeof tool !== 'string') return null
  const fields = isObject(input) ? input : null
  const command = shellTools.test(tool) ? commandOf(fields, input) : null
  const path = textOf(fields?.file_path) ?? textOf(fields?.path) ?? textOf(fields?.notebook_path)
  const edits = editTools.test(tool) ? editedFiles(path, input) : none
  return {
    kind: 'call',
    atMs: timeOf(timestamp),
    tool,
    result: isResult(result) ? result : 'unknown',
    edits,
    command,
    label: command ?? path ?? edits[0] ?? '',
    durationMs: typeof duration_ms === 'number' ? duration_ms : null,
    agentId: textOf(agent_id),
    rule: textOf(rule),
    signature: textOf(signature),
    verifies: isEvidenceKind(verifies) ? verifies : null,
  }
}

function isEvidenceKind(value: unknown): value is EvidenceKind {
  return value === 'test' || value === 'lint' || value === 'build' || value === 'other'
}

function isResult(value: unknown): value is TraceCall['result'] {
  return typeof value === 'string' && results.has(value)
}

function commandOf(fields: Readonly<Record<string, unknown>> | null, input: unknown): string | null {
  const command = fields?.command ?? fields?.cmd ?? input
  if (Array.isArray(command)) return command.map(String).join(' ')
  return textOf(command)
}

/** An edit without a file in the record counts for `unknown`, as in the original. */
function editedFiles(path: string | null, input: unknown): readonly string[] {
  if (path !== null) return [path]
  const patch = isObject(input) ? (textOf(input.input) ?? textOf(input.patch)) : textOf(input)
  const named = [...(patch ?? '').matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)]
  return named.length === 0 ? ['unknown'] : named.map(([, file = 'unknown']) => file.trim())
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** Epoch ms of an ISO time; null when invalid. Log lines are close in time, so the minute is parsed once. */
export function timeOf(text: unknown): number | null {
  if (typeof text !== 'string') return null
  if (text.length !== utcLength || !text.endsWith('Z')) return parsed(text)
  const minute = text.slice(0, minuteLength)
  if (minute !== lastMinute) {
    const atMs = parsed(`${minute}00.000Z`)
    if (atMs === null) return parsed(text)
    lastMinute = minute
    lastMs = atMs
  }
  const seconds = Number(text.slice(minuteLength, -1))
  return seconds >= 0 && seconds < 60 ? lastMs + Math.round(seconds * 1000) : parsed(text)
}

const utcLength = '2026-01-01T00:00:00.000Z'.length
const minuteLength = '2026-01-01T00:00:'.length
let lastMinute = ''
let lastMs = 0

function parsed(text: string): number | null {
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : atMs
}

/** One entry of a log, in the same form for every kind of log. */
export type TraceItem = TraceCall | TraceRefusal

export interface TraceCall {
  readonly kind: 'call'
  /** Epoch ms; null when the record has no time. */
  readonly atMs: number | null
  readonly tool: string
  readonly result: 'success' | 'failure' | 'denied' | 'unknown'
  /** Files it edited; empty when it is not an edit. */
  readonly edits: readonly string[]
  /** Of a shell call. */
  readonly command: string | null
  /** The command or path, for display. */
  readonly label: string
  readonly durationMs: number | null
  readonly agentId: string | null
  /** For a denial: the rule, or null when it was not the guard. */
  readonly rule: string | null
  /** Equal for the same tool with the same input; null when the record has no input. */
  readonly signature: string | null
  /** It ran a command of the project's checks; null when the log does not show one. */
  readonly verifies: EvidenceKind | null
}

/** The guard refused a stop, or reported about something that is not a call. */
interface TraceRefusal {
  readonly kind: 'refusal'
  readonly atMs: number | null
  readonly verdict: 'deny' | 'refuse'
  readonly rule: string
}
