import { resolve } from 'node:path'
import { asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { messageText, type SessionCommand, type SessionFacts } from '../session-facts.ts'

/** A rollout: `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`. */
export function readCodexSession(lines: readonly JsonObject[]): SessionFacts {
  const meta = asObject(lines.find(({ type }) => type === 'session_meta')?.payload)
  const prompts: string[] = []
  const cwd = asString(meta?.cwd) ?? ''
  const commands: SessionCommand[] = []
  const running = new Map<string, Omit<SessionCommand, 'exitCode'>>()
  for (const { type, payload } of lines) {
    const item = type === 'response_item' ? asObject(payload) : null
    if (item === null) continue
    const callId = asString(item.call_id) ?? ''
    if (item.type === 'message' && item.role === 'user') {
      const text = messageText(item.content, ['input_text', 'text']).trim()
      if (text !== '' && !/^(?:<[a-z_]+>|# AGENTS\.md)/.test(text)) prompts.push(text)
    } else if (item.type === 'function_call') {
      const command = commandIn(asString(item.arguments) ?? '', cwd)
      if (command !== null) running.set(callId, command)
    } else if (item.type === 'function_call_output') {
      const command = running.get(callId)
      if (command !== undefined) commands.push({ ...command, exitCode: exitCodeIn(item.output) })
    }
  }
  return {
    agent: 'codex',
    cwd,
    startedAt: asString(meta?.timestamp) ?? '',
    commit: asString(asObject(meta?.git)?.commit_hash) ?? null,
    prompts,
    commands,
    originals: new Map(),
  }
}

/** Of the tools `exec_command` and `shell`. */
function commandIn(text: string, cwd: string): Omit<SessionCommand, 'exitCode'> | null {
  try {
    const { cmd, command, workdir } = asObject(JSON.parse(text)) ?? {}
    const words = cmd ?? command
    const isScript = Array.isArray(words) && /^-l?c$/.test(String(words.at(-2)))
    const line = asString(isScript ? words.at(-1) : Array.isArray(words) ? words.join(' ') : words)
    return line === undefined ? null : { command: line, cwd: resolve(cwd, asString(workdir) ?? '') }
  } catch {
    return null
  }
}

function exitCodeIn(output: unknown): number | null {
  const text = asString(output) ?? JSON.stringify(output ?? '')
  const code = /(?:exited with code |"exit_code":\s*)(\d+)/.exec(text)?.[1]
  return code === undefined ? null : Number(code)
}
