import type { Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'
import { classifyFailure } from '../failure.ts'
import { type AgentEvents, lineParser, type StreamAccount, type StreamParser } from '../stream.ts'
import { readShellOutput } from './shell-output.ts'

/** `gemini --output-format stream-json`. */
export const createStreamParser = (): StreamParser => lineParser(geminiReader)

function geminiReader({ meter, isNew, answered, expectAnswer, said, recovered, failed }: StreamAccount) {
  const usages = createUsageLedger(meter)
  const tools = createToolLog(isNew)
  /** Text arrives in pieces; a message is everything between two other lines. */
  let spoken = ''

  const flush = (): AgentEvents => {
    if (spoken === '') return []
    const text = spoken
    spoken = ''
    return [{ event: 'message', role: 'assistant', text }]
  }

  const message = (line: JsonObject): AgentEvents => {
    const text = asString(line.content)
    if (text === undefined) return []
    if (line.role === 'user') return [{ event: 'message', role: 'user', text }]
    answered()
    spoken += text
    said(spoken)
    return line.delta === true ? [] : flush()
  }

  const failedBy = (message: string, isFatal: boolean): AgentEvents => {
    const reason = classifyFailure(message) ?? (message.startsWith('[API Error') ? 'unavailable' : null)
    if (reason === null) return [{ event: 'message', role: 'system', text: message }]
    return isFatal ? failed({ reason, message }) : [{ event: 'error', reason, message }]
  }

  const ended = (line: JsonObject): AgentEvents => {
    const message = asString(asObject(line.error)?.message)
    recovered()
    return [
      ...usages(asObject(line.stats)),
      ...(line.status === 'error' ? failedBy(message ?? 'Gemini CLI ended with an error.', true) : []),
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
        if (events.length > 0) expectAnswer()
        return events
      }
      case 'error':
        return failedBy(asString(line.message) ?? 'Gemini CLI reported an error.', line.severity === 'error')
      case 'result':
        return ended(line)
      default:
        return []
    }
  }

  return (line: JsonObject): AgentEvents => {
    if (line.type === 'message' && line.role !== 'user') return message(line)
    const before = flush()
    return [...before, ...(line.type === 'message' ? message(line) : readOther(line))]
  }
}

type Counts = ReturnType<typeof countsOf>

const nothing: Counts = { input: 0, output: 0, cached: 0, thinking: 0 }

/** `stats` of a `result` line are the totals of the session so far, per model. Emits the difference to the usage emitted before. */
function createUsageLedger(meter: StreamAccount['meter']) {
  const counted = new Map<string, Counts>()
  return (stats: JsonObject | null): AgentEvents =>
    Object.entries(asObject(stats?.models) ?? {}).flatMap(([model, value]) => {
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
function createToolLog(isNew: StreamAccount['isNew']) {
  const called = new Map<string, string>()
  return {
    call(line: JsonObject): AgentEvents {
      const id = asString(line.tool_id)
      const tool = asString(line.tool_name) ?? 'unknown'
      if (!isNew('call', id)) return []
      if (id !== undefined) called.set(id, tool)
      const command = tool === shell ? asString(asObject(line.parameters)?.command) : undefined
      return [defined({ event: 'tool_call' as const, id, tool, command, input: line.parameters })]
    },
    result(line: JsonObject): AgentEvents {
      const id = asString(line.tool_id)
      if (!isNew('result', id)) return []
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
