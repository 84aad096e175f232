import type { AgentEvent, Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'
import type { FailureReport } from '../contract.ts'
import { classifyFailure } from '../failure.ts'
import { readLine, type StreamParser, type UsageTotal } from '../stream.ts'
import { createUsageMeter } from '../usage-meter.ts'
import { createToolLog } from './tool-log.ts'

type Events = readonly Untimed<AgentEvent>[]

/** `gemini --output-format stream-json`. */
export function createStreamParser(): StreamParser {
  const ledger = createUsageLedger()
  const tools = createToolLog()
  let turns = 0
  /** The model answers once after the prompt and once after the tools that came back. */
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

  const flush = (): Events => {
    if (pieces.length === 0) return []
    const text = pieces.join('')
    pieces = []
    finalText = text
    return [{ event: 'message', role: 'assistant', text }]
  }

  const message = (line: JsonObject): Events => {
    const text = asString(line.content)
    if (text === undefined) return []
    if (line.role === 'user') return [{ event: 'message', role: 'user', text }]
    answered()
    pieces.push(text)
    return line.delta === true ? [] : flush()
  }

  const call = (line: JsonObject): Events => {
    const events = tools.call(line)
    if (events.length > 0) answered()
    return events
  }

  const result = (line: JsonObject): Events => {
    const events = tools.result(line)
    if (events.length > 0) answerExpected = true
    return events
  }

  const failed = (message: string, isFatal: boolean): Events => {
    const reason = classifyFailure(message) ?? (message.startsWith('[API Error') ? 'unavailable' : null)
    if (reason === null) return [{ event: 'message', role: 'system', text: message }]
    if (isFatal) failure = { reason, message }
    return [{ event: 'error', reason, message }]
  }

  const ended = (line: JsonObject): Events => {
    const message = asString(asObject(line.error)?.message)
    failure = null
    return [
      ...ledger.result(asObject(line.stats)),
      ...(line.status === 'error' ? failed(message ?? 'Gemini CLI ended with an error.', true) : []),
    ]
  }

  const readOther = (line: JsonObject): Events => {
    switch (line.type) {
      case 'init':
        return [sessionEvent(line)]
      case 'tool_use':
        return call(line)
      case 'tool_result':
        return result(line)
      case 'error':
        return failed(asString(line.message) ?? 'Gemini CLI reported an error.', line.severity === 'error')
      case 'result':
        return ended(line)
      default:
        return []
    }
  }

  const read = (line: JsonObject): Events => {
    if (line.type === 'message' && line.role !== 'user') return message(line)
    const before = flush()
    return [...before, ...(line.type === 'message' ? message(line) : readOther(line))]
  }

  return {
    push: (line) => readLine(line, read),
    turns: () => turns,
    usage: ledger.total,
    end: () => ({
      finalText: pieces.length === 0 ? finalText : pieces.join(''),
      failure,
      ...ledger.total(),
    }),
  }
}

function sessionEvent(line: JsonObject): Untimed<AgentEvent> {
  return defined({
    event: 'session' as const,
    agent: 'gemini',
    session_id: asString(line.session_id),
    model: asString(line.model),
  })
}

interface UsageLedger {
  /** `stats` of a `result` line: the totals of the session so far, per model. */
  result(stats: JsonObject | null): readonly Untimed<UsageEvent>[]
  total(): UsageTotal
}

interface Counts {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly thinking: number
}

const nothing: Counts = { input: 0, output: 0, cached: 0, thinking: 0 }

/** Emitted are differences to what was emitted before. */
function createUsageLedger(): UsageLedger {
  const meter = createUsageMeter()
  const told = new Map<string, Counts>()
  return {
    result(stats) {
      return Object.entries(asObject(stats?.models) ?? {}).flatMap(([model, value]) => {
        const before = told.get(model) ?? nothing
        const now = countsOf(asObject(value) ?? {})
        const more = (key: keyof Counts): number => Math.max(0, now[key] - before[key])
        told.set(model, now)
        const usage: Untimed<UsageEvent> = {
          event: 'usage',
          model,
          input_tokens: more('input'),
          output_tokens: more('output'),
          cache_read_tokens: more('cached'),
          thinking_tokens: more('thinking'),
        }
        const counts = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens ?? 0]
        if (counts.every((count) => count === 0)) return []
        meter.add(usage)
        return [usage]
      })
    },
    total: meter.total,
  }
}

/** What was thought is in no count but the total; it is paid for as output. */
function countsOf(stats: JsonObject): Counts {
  const prompt = asAmount(stats.input_tokens) ?? 0
  const said = asAmount(stats.output_tokens) ?? 0
  const cached = Math.min(prompt, asAmount(stats.cached) ?? 0)
  const thinking = Math.max(0, (asAmount(stats.total_tokens) ?? 0) - prompt - said)
  return { input: prompt - cached, output: said + thinking, cached, thinking }
}
