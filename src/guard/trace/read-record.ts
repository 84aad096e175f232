import { isObject } from '../../core/json-fields.ts'
import { timeOf } from './time-of.ts'
import type { TraceCall } from './trace-call.ts'

const editTools =
  /^(?:edit|write|multiedit|notebookedit|apply_patch|replace|write_file|edit_file|create|str_replace\w*)$/i
const shellTools = /^(?:bash|shell|powershell|run_shell_command|local_shell|exec_command|terminal|execute)$/i
const none: readonly string[] = []
const results = new Set(['success', 'failure', 'denied', 'unknown'])

/**
 * A line of `trace-log.jsonl`, ours or the original's, which has four keys, `input` perhaps as text and `result` always
 * "success". null when it is none.
 */
export function readRecord(value: unknown): TraceCall | null {
  if (!isObject(value)) return null
  const { timestamp, tool, input, result, duration_ms, agent_id, rule, signature } = value
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
  }
}

function isResult(value: unknown): value is TraceCall['result'] {
  return typeof value === 'string' && results.has(value)
}

function commandOf(fields: Readonly<Record<string, unknown>> | null, input: unknown): string | null {
  const command = fields?.command ?? fields?.cmd ?? input
  if (Array.isArray(command)) return command.map(String).join(' ')
  return textOf(command)
}

/** An edit of which the record does not say the file is one of `unknown`, as the original counts it. */
function editedFiles(path: string | null, input: unknown): readonly string[] {
  if (path !== null) return [path]
  const patch = isObject(input) ? (textOf(input.input) ?? textOf(input.patch)) : textOf(input)
  const named = [...(patch ?? '').matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)]
  return named.length === 0 ? ['unknown'] : named.map(([, file = 'unknown']) => file.trim())
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
