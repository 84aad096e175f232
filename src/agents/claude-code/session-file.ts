import { asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { messageText, type SessionCommand, type SessionFacts } from '../session-facts.ts'

/** A transcript: `~/.claude/projects/<directory>/<session>.jsonl`. */
export function readClaudeSession(lines: readonly JsonObject[]): SessionFacts {
  const prompts: string[] = []
  const commands: SessionCommand[] = []
  const originals = new Map<string, string | null>()
  const running = new Map<string, Omit<SessionCommand, 'exitCode'>>()
  const own = lines.filter(({ isSidechain }) => isSidechain !== true)
  for (const line of lines) {
    const { content } = asObject(line.message) ?? {}
    const parts = Array.isArray(content) ? content.map(asObject) : []
    if (line.type === 'assistant')
      for (const part of parts)
        if (part?.type === 'tool_use' && part.name === 'Bash')
          running.set(asString(part.id) ?? '', {
            command: asString(asObject(part.input)?.command) ?? '',
            cwd: asString(line.cwd) ?? '',
          })
    if (line.type !== 'user') continue
    const results = parts.filter((part) => part?.type === 'tool_result')
    for (const result of results) {
      const command = running.get(asString(result?.tool_use_id) ?? '')
      if (command !== undefined) commands.push({ ...command, exitCode: exitCodeOf(result) })
    }
    const touched = asObject(line.toolUseResult)
    const path = asString(touched?.filePath)
    if (path !== undefined && touched !== null && 'originalFile' in touched && !originals.has(path))
      originals.set(path, asString(touched.originalFile) ?? null)
    const isOwn = line.isMeta !== true && line.isSidechain !== true && line.isCompactSummary !== true
    if (results.length > 0 || !isOwn) continue
    const text = messageText(content, ['text']).trim()
    if (text !== '' && !isMarkup(text)) prompts.push(text)
  }
  const [first] = own.filter(({ cwd }) => typeof cwd === 'string')
  return {
    agent: 'claude-code',
    cwd: asString(first?.cwd) ?? '',
    startedAt: asString(first?.timestamp) ?? '',
    commit: null,
    prompts,
    commands,
    originals,
  }
}

/** Commands of the program, their output and its notes, which the transcript has as messages of the user. */
function isMarkup(text: string): boolean {
  return /^(?:<(?:command-|local-command-|system-reminder|bash-|task-notification)|\[Request interrupted)/.test(
    text,
  )
}

function exitCodeOf(result: JsonObject | null): number | null {
  if (result?.is_error !== true) return 0
  const code = /^Exit code (\d+)/.exec(messageText(result.content, ['text']))?.[1]
  return code === undefined ? null : Number(code)
}
