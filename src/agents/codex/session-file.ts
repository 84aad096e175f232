import { asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { messageText, type SessionFacts } from '../session-facts.ts'

/** A rollout: `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`. */
export function readCodexSession(lines: readonly JsonObject[]): SessionFacts {
  const meta = asObject(lines.find(({ type }) => type === 'session_meta')?.payload)
  const prompts: string[] = []
  const commands: { command: string; exitCode: number | null }[] = []
  const running = new Map<string, string>()
  for (const { type, payload } of lines) {
    const item = type === 'response_item' ? asObject(payload) : null
    if (item === null) continue
    const callId = asString(item.call_id) ?? ''
    if (item.type === 'message' && item.role === 'user') {
      const text = messageText(item.content, ['input_text', 'text']).trim()
      if (text !== '' && !/^(?:<[a-z_]+>|# AGENTS\.md)/.test(text)) prompts.push(text)
    } else if (item.type === 'function_call') {
      const command = commandIn(asString(item.arguments) ?? '')
      if (command !== null) running.set(callId, command)
    } else if (item.type === 'function_call_output') {
      const command = running.get(callId)
      if (command !== undefined) commands.push({ command, exitCode: exitCodeIn(item.output) })
    }
  }
  return {
    agent: 'codex',
    cwd: asString(meta?.cwd) ?? '',
    startedAt: asString(meta?.timestamp) ?? '',
    commit: asString(asObject(meta?.git)?.commit_hash) ?? null,
    prompts,
    commands,
    originals: new Map(),
  }
}

/** Of the tools `exec_command` and `shell`. */
function commandIn(text: string): string | null {
  try {
    const { cmd, command } = asObject(JSON.parse(text)) ?? {}
    const words = cmd ?? command
    if (!Array.isArray(words)) return asString(words) ?? null
    return asString(/^-l?c$/.test(String(words.at(-2))) ? words.at(-1) : words.join(' ')) ?? null
  } catch {
    return null
  }
}

function exitCodeIn(output: unknown): number | null {
  const text = asString(output) ?? JSON.stringify(output ?? '')
  const code = /(?:exited with code |"exit_code":\s*)(\d+)/.exec(text)?.[1]
  return code === undefined ? null : Number(code)
}
