import type { AgentEvent, Untimed, UsageEvent } from '../../core/event.ts'
import { asAmount, asInteger, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'
import { classifyFailure } from '../failure.ts'
import { type AgentEvents, lineParser, type StreamAccount, type StreamParser } from '../stream.ts'

/** `opencode run --format json`. It contains only the main session: a subagent appears only as the call that started it. */
export const createStreamParser = (): StreamParser => lineParser(opencodeReader)

function opencodeReader({ meter, isNew, turn, said, recovered, failed }: StreamAccount) {
  let session: string | null = null

  const message = (part: JsonObject, role: 'assistant' | 'thinking'): AgentEvents => {
    const text = asString(part.text)
    if (text === undefined) return []
    recovered()
    if (role === 'assistant') said(text)
    return [{ event: 'message', role, text }]
  }

  const used = (part: JsonObject): AgentEvents => {
    recovered()
    const usage = isNew('usage', asString(part.id)) ? usageOf(part) : null
    return usage === null ? [] : meter.add(usage)
  }

  const failedBy = (line: JsonObject): AgentEvents => {
    const error = asObject(line.error) ?? {}
    const data = asObject(error.data)
    const name = asString(error.name) ?? 'error'
    const message = asString(data?.message) ?? asString(error.message) ?? `opencode reported ${name}.`
    const reason = classifyFailure(message, asInteger(data?.statusCode))
    // An error that is not an API failure may be anything, but opencode has stopped working.
    return failed({ reason: reason ?? 'unavailable', message })
  }

  const readBody = (line: JsonObject): AgentEvents => {
    const part = asObject(line.part) ?? {}
    switch (line.type) {
      case 'step_start':
        // A retried step starts again, in the same message.
        turn(asString(part.messageID))
        return []
      case 'text':
        return message(part, 'assistant')
      case 'reasoning':
        return message(part, 'thinking')
      case 'tool_use':
        recovered()
        return toolEvents(part)
      case 'step_finish':
        return used(part)
      case 'error':
        return failedBy(line)
      default:
        return []
    }
  }

  return (line: JsonObject): AgentEvents => {
    const id = asString(line.sessionID)
    const body = readBody(line)
    if (id === undefined || session !== null) return body
    session = id
    return [{ event: 'session', agent: 'opencode', session_id: id }, ...body]
  }
}

/** Input is reported without cached tokens, output without thinking tokens. */
function usageOf(part: JsonObject): Untimed<UsageEvent> | null {
  const tokens = asObject(part.tokens)
  if (tokens === null) return null
  const cache = asObject(tokens.cache)
  const thinking = asAmount(tokens.reasoning) ?? 0
  const cost = asAmount(part.cost)
  return defined({
    event: 'usage' as const,
    input_tokens: asAmount(tokens.input) ?? 0,
    output_tokens: (asAmount(tokens.output) ?? 0) + thinking,
    cache_read_tokens: asAmount(cache?.read) ?? 0,
    cache_write_tokens: asAmount(cache?.write) ?? 0,
    thinking_tokens: thinking,
    // A model without a known price costs 0 here: that is not a price.
    cost_usd: cost === 0 ? undefined : cost,
  })
}

/** opencode reports a tool when it is done: the call and its result at once. */
function toolEvents(part: JsonObject): readonly Untimed<AgentEvent>[] {
  const state = asObject(part.state)
  if (state === null) return []
  const id = asString(part.callID)
  const tool = asString(part.tool) ?? 'unknown'
  const input = asObject(state.input)
  const exit_code = asInteger(asObject(state.metadata)?.exit)
  const command = tool === 'bash' ? asString(input?.command) : undefined
  const failed = state.status === 'error'
  return [
    defined({ event: 'tool_call' as const, id, tool, command, input: state.input }),
    defined({
      event: 'tool_result' as const,
      id,
      output: asString(failed ? state.error : state.output) ?? '',
      exit_code,
      is_error: failed || (exit_code !== undefined && exit_code !== 0),
      duration_secs: durationOf(state),
    }),
  ]
}

function durationOf(state: JsonObject): number | undefined {
  const time = asObject(state.time)
  const start = asInteger(time?.start)
  const end = asInteger(time?.end)
  return start === undefined || end === undefined || end < start ? undefined : (end - start) / 1_000
}
