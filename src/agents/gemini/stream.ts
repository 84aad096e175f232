import type { Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'
import type { FailureReport } from '../contract.ts'
import { classifyFailure } from '../failure.ts'
import { type AgentEvents, createUsageMeter, readLine, type StreamParser } from '../stream.ts'
import { readShellOutput } from './shell-output.ts'

/** `gemini --output-format stream-json`. */
export function createStreamParser(): StreamParser {
  const ledger = createUsageLedger()
  const tools = createToolLog()
  let turns = 0
  /** The model answers once after the prompt and once after the tool results. */
  let answerExpected = true
  /** Text arrives in pieces; a message is everything between two other lines. */
  let pieces: string[] = []
  let finalText: string | null = null
  let failure: FailureReport | null = null

  const answered = (): void => {
    if (answerExpected) turns += 1
    answerExpected = false
    failure = null
  }

  const flush = (): AgentEvents => {
    if (pieces.length === 0) return []
    const text = pieces.join('')
    pieces = []
    finalText = text
    return [{ event: 'message', role: 'assistant', text }]
  }

  const message = (line: JsonObject): AgentEvents => {
    const text = asString(line.content)
    if (text === undefined) return []
    if (line.role === 'user') return [{ event: 'message', role: 'user', text }]
    answered()
    pieces.push(text)
    return line.delta === true ? [] : flush()
  }

  const failed = (message: string, isFatal: boolean): AgentEvents => {
    const reason = classifyFailure(message) ?? (message.startsWith('[API Error') ? 'unavailable' : null)
    if (reason === null) return [{ event: 'message', role: 'system', text: message }]
    if (isFatal) failure = { reason, message }
    return [{ event: 'error', reason, message }]
  }

  const ended = (line: JsonObject): AgentEvents => {
    const message = asString(asObject(line.error)?.message)
    failure = null
    return [
      ...ledger.result(asObject(line.stats)),
      ...(line.status === 'error' ? failed(message ?? 'Gemini CLI ended with an error.', true) : []),
    ]
  }

  const readOther = (line: JsonObject): AgentEvents => {
    switch (line.type) {
      case 'init':
        return [
          defined({
            event: 'session' as const,
            agent: 'gemini',
            session_id: asString(line.session_id),
            model: asString(line.model),
          }),
        ]
      case 'tool_use': {
        const events = tools.call(line)
        if (events.length > 0) answered()
        return events
      }
      case 'tool_result': {
        const events = tools.result(line)
        if (events.length > 0) answerExpected = true
        return events
      }
      case 'error':
        return failed(asString(line.message) ?? 'Gemini CLI reported an error.', line.severity === 'error')
      case 'result':
        return ended(line)
      default:
        return []
    }
  }

  const read = (line: JsonObject): AgentEvents => {
    if (line.type === 'message' && line.role !== 'user') return message(line)
    const before = flush()
    return [...before, ...(line.type === 'message' ? message(line) : readOther(line))]
  }

  return {
    push: (line) => readLine(line, read),
    turns: () => turns,
    usage: ledger.total,
    end: () => ({ finalText: pieces.length === 0 ? finalText : pieces.join(''), failure, ...ledger.total() }),
  }
}

type Counts = ReturnType<typeof countsOf>

const nothing: Counts = { input: 0, output: 0, cached: 0, thinking: 0 }

/** Emits the difference to the usage emitted before. */
function createUsageLedger() {
  const meter = createUsageMeter()
  const counted = new Map<string, Counts>()
  return {
    /** `stats` of a `result` line: the totals of the session so far, per model. */
    result(stats: JsonObject | null): AgentEvents {
      return Object.entries(asObject(stats?.models) ?? {}).flatMap(([model, value]) => {
        const before = counted.get(model) ?? nothing
        const now = countsOf(asObject(value) ?? {})
        const more = (key: keyof Counts): number => Math.max(0, now[key] - before[key])
        counted.set(model, now)
        const usage: Untimed<UsageEvent> = {
          event: 'usage',
          model,
          input_tokens: more('input'),
          output_tokens: more('output'),
          cache_read_tokens: more('cached'),
          thinking_tokens: more('thinking'),
        }
        const counts = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens ?? 0]
        return counts.every((count) => count === 0) ? [] : meter.add(usage)
      })
    },
    total: meter.total,
  }
}

/** Thinking is only part of the total; it is billed as output. */
function countsOf(stats: JsonObject) {
  const prompt = asAmount(stats.input_tokens) ?? 0
  const said = asAmount(stats.output_tokens) ?? 0
  const cached = Math.min(prompt, asAmount(stats.cached) ?? 0)
  const thinking = Math.max(0, (asAmount(stats.total_tokens) ?? 0) - prompt - said)
  return { input: prompt - cached, output: said + thinking, cached, thinking }
}

const shell = 'run_shell_command'

/** Joins tool calls with their results: a result names only the id of its call. */
function createToolLog() {
  const called = new Map<string, string>()
  const answered = new Set<string>()
  return {
    call(line: JsonObject): AgentEvents {
      const id = asString(line.tool_id)
      const tool = asString(line.tool_name) ?? 'unknown'
      if (id !== undefined && called.has(id)) return []
      if (id !== undefined) called.set(id, tool)
      const command = tool === shell ? asString(asObject(line.parameters)?.command) : undefined
      return [defined({ event: 'tool_call' as const, id, tool, command, input: line.parameters })]
    },
    result(line: JsonObject): AgentEvents {
      const id = asString(line.tool_id)
      if (id !== undefined && answered.has(id)) return []
      if (id !== undefined) answered.add(id)
      const failed = line.status === 'error'
      const text = asString(line.output) ?? asString(asObject(line.error)?.message) ?? ''
      const ran = id !== undefined && called.get(id) === shell && !failed
      const { output, exitCode } = ran ? readShellOutput(text) : { output: text, exitCode: undefined }
      return [
        defined({
          event: 'tool_result' as const,
          id,
          output,
          exit_code: exitCode,
          // It reports a command as a success whatever its exit code was.
          is_error: ran ? (exitCode === undefined ? undefined : exitCode !== 0) : failed,
        }),
      ]
    },
  }
}
