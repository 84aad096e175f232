import type { AgentEvent, Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'
import type { FailureReport } from '../contract.ts'
import { classifyFailure } from '../failure.ts'
import { readLine, type StreamParser } from '../stream.ts'
import { createUsageMeter } from '../usage-meter.ts'
import { isTool, toolCall, toolResult } from './tool-item.ts'

type Events = readonly Untimed<AgentEvent>[]

/** `codex exec --json`. Codex reports no prices. */
export function createStreamParser(): StreamParser {
  const meter = createUsageMeter()
  const started = new Set<string>()
  let total: JsonObject = {}
  let turns = 0
  /** The model answers once after the prompt and once after every tool that came back. */
  let answerExpected = true
  let finalText: string | null = null
  let failure: FailureReport | null = null

  const answered = (): void => {
    if (answerExpected) turns += 1
    answerExpected = false
    failure = null
  }

  const toolStarted = (item: JsonObject): Events => {
    const id = asString(item.id)
    if (id !== undefined && started.has(id)) return []
    if (id !== undefined) started.add(id)
    answered()
    return [toolCall(item)]
  }

  const completed = (item: JsonObject): Events => {
    if (isTool(item)) {
      const call = toolStarted(item)
      answerExpected = true
      return [...call, toolResult(item)]
    }
    const text = asString(item.text) ?? asString(item.message)
    if (text === undefined) return []
    switch (item.type) {
      case 'agent_message':
        answered()
        finalText = text
        return [{ event: 'message', role: 'assistant', text }]
      case 'reasoning':
        answered()
        return [{ event: 'message', role: 'thinking', text }]
      // Codex reports warnings of its own as error items: they stop nothing.
      case 'error':
        return [{ event: 'message', role: 'system', text }]
      default:
        return []
    }
  }

  const failed = (message: string): Events => {
    failure = { reason: classifyFailure(message) ?? 'unavailable', message }
    return [{ event: 'error', ...failure }]
  }

  const used = (line: JsonObject): Events => {
    failure = null
    const usage = asObject(line.usage)
    if (usage === null) return []
    const event = usageSince(total, usage)
    total = usage
    meter.add(event)
    return [event]
  }

  const read = (line: JsonObject): Events => {
    const item = asObject(line.item) ?? {}
    switch (line.type) {
      case 'thread.started':
        return [defined({ event: 'session' as const, agent: 'codex', session_id: asString(line.thread_id) })]
      case 'item.started':
        return isTool(item) ? toolStarted(item) : []
      case 'item.completed':
        return completed(item)
      case 'turn.completed':
        return used(line)
      case 'turn.failed':
        return failed(asString(asObject(line.error)?.message) ?? 'The turn failed.')
      case 'error':
        return failed(asString(line.message) ?? 'Codex reported an error.')
      default:
        return []
    }
  }

  return {
    push: (line) => readLine(line, read),
    turns: () => turns,
    usage: meter.total,
    end: () => ({ finalText, failure, ...meter.total() }),
  }
}

/** `turn.completed` reports the total of the thread so far, cached tokens included in the input. */
function usageSince(before: JsonObject, now: JsonObject): Untimed<UsageEvent> {
  const more = (key: string): number => Math.max(0, (asAmount(now[key]) ?? 0) - (asAmount(before[key]) ?? 0))
  const cached = more('cached_input_tokens')
  return {
    event: 'usage',
    input_tokens: Math.max(0, more('input_tokens') - cached),
    output_tokens: more('output_tokens'),
    cache_read_tokens: cached,
    cache_write_tokens: more('cache_write_input_tokens'),
    thinking_tokens: more('reasoning_output_tokens'),
  }
}
