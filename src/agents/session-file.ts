import { asObject, type JsonObject } from '../core/json-fields.ts'
import { readClaudeSession } from './claude-code/session-file.ts'
import { readCodexSession } from './codex/session-file.ts'
import type { SessionFacts } from './session-facts.ts'

/** null when the lines are the record of no known agent. */
export function readSessionLines(lines: readonly JsonObject[]): SessionFacts | null {
  if (lines.some(({ type }) => type === 'session_meta')) return readCodexSession(lines)
  if (lines.some(({ type, message }) => type === 'user' && asObject(message) !== null))
    return readClaudeSession(lines)
  return null
}
