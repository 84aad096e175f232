import type { AgentEvent, AgentFailure, Untimed, UsageEvent } from '../../core/event.ts'
import {
  asAmount,
  asArray,
  asBoolean,
  asInteger,
  asObject,
  asString,
  defined,
  type JsonObject,
} from '../../core/json-fields.ts'
import type { FailureReport } from '../contract.ts'
import { classifyFailure } from '../failure.ts'
import { readLine, type StreamParser } from '../stream.ts'
import { createUsageMeter } from '../usage-meter.ts'
import { createToolLog } from './tool-log.ts'

type Events = readonly Untimed<AgentEvent>[]

/** `copilot --output-format json`. Pieces of messages and outputs that are repeated whole later stay raw. */
export function createStreamParser(): StreamParser {
  const meter = createUsageMeter()
  const tools = createToolLog()
  const turns = new Set<string>()
  const counted = new Set<string>()
  let servers: readonly string[] | undefined
  let finalText: string | null = null
  let failure: FailureReport | null = null

  const message = (data: JsonObject, line: JsonObject): Events => {
    const parent_id = tools.parentOf(data, line)
    const call = asString(data.apiCallId) ?? asString(data.messageId)
    const text = asString(data.content) ?? ''
    if (parent_id === undefined) {
      if (call !== undefined) turns.add(call)
      if (text !== '') finalText = text
      failure = null
    }
    const model = asString(data.model)
    return text === ''
      ? []
      : [defined({ event: 'message' as const, role: 'assistant' as const, text, model, parent_id })]
  }

  const reasoning = (data: JsonObject, line: JsonObject): Events => {
    const text = asString(data.content)
    const parent_id = tools.parentOf(data, line)
    return text === undefined || text === ''
      ? []
      : [defined({ event: 'message' as const, role: 'thinking' as const, text, parent_id })]
  }

  const usage = (data: JsonObject, line: JsonObject): Events => {
    const id = asString(line.id)
    if (id !== undefined && counted.has(id)) return []
    if (id !== undefined) counted.add(id)
    const event = usageOf(data)
    if (event === null) return []
    meter.add(event)
    return [event]
  }

  const failed = (data: JsonObject): Events => {
    failure = failureOf(data)
    return [{ event: 'error', ...failure }]
  }

  const read = (line: JsonObject): Events => {
    const data = asObject(line.data) ?? {}
    switch (line.type) {
      case 'session.mcp_servers_loaded':
        servers = asArray(data.servers).map(serverName)
        return []
      case 'session.tools_updated':
        return [
          defined({
            event: 'session' as const,
            agent: 'copilot',
            model: asString(data.model),
            mcp_servers: servers,
          }),
        ]
      case 'user.message': {
        const text = asString(data.content)
        const parent_id = tools.parentOf(data, line)
        return text === undefined
          ? []
          : [defined({ event: 'message' as const, role: 'user' as const, text, parent_id })]
      }
      case 'assistant.message':
        return message(data, line)
      case 'assistant.reasoning':
        return reasoning(data, line)
      case 'assistant.usage':
        return usage(data, line)
      case 'tool.execution_start':
        return tools.started(data, line)
      case 'tool.shell_output':
        tools.printed(data, line)
        return []
      case 'tool.execution_complete':
        return tools.completed(data, line)
      case 'subagent.started':
        tools.subagent(data, line)
        return []
      case 'hook.end':
        return [hookEvent(data)]
      case 'model.call_failure':
        return tools.parentOf(data, line) === undefined ? failed(data) : []
      case 'session.error':
        return failed(data)
      case 'result':
        return [
          defined({ event: 'session' as const, agent: 'copilot', session_id: asString(line.sessionId) }),
        ]
      default:
        return []
    }
  }

  return {
    push: (line) => readLine(line, read),
    turns: () => turns.size,
    usage: meter.total,
    end: () => ({ finalText, failure, ...meter.total() }),
  }
}

/** A server that is not connected says so in its name: a reader of the log must not take it for a working one. */
function serverName(value: unknown): string {
  const server = asObject(value)
  const name = asString(server?.name) ?? JSON.stringify(value)
  const status = asString(server?.status)
  return status === undefined || status === 'connected' ? name : `${name} (${status})`
}

function hookEvent(data: JsonObject): Untimed<AgentEvent> {
  const success = asBoolean(data.success)
  const output = data.output ?? asObject(data.error)?.message
  return defined({
    event: 'hook' as const,
    hook: asString(data.hookType) ?? 'unknown',
    outcome: success === undefined ? undefined : success ? 'success' : 'error',
    output: output === undefined ? undefined : (asString(output) ?? JSON.stringify(output)),
  })
}

/** Copilot's own codes for what went wrong; the others add nothing to the message. */
const reasons: Readonly<Record<string, AgentFailure>> = {
  authentication: 'auth',
  authorization: 'auth',
  quota: 'rate_limit',
  rate_limit: 'rate_limit',
  context_limit: 'context',
}

/** The data of a `session.error` or of a `model.call_failure`. */
function failureOf(data: JsonObject): FailureReport {
  const message = asString(data.message) ?? asString(data.errorMessage) ?? 'Copilot reported an error.'
  const reason =
    reasons[asString(data.errorType) ?? ''] ??
    (/prompt budget/i.test(message) ? 'context' : classifyFailure(message, asInteger(data.statusCode)))
  return { reason: reason ?? 'unavailable', message }
}

/** The tokens of one model call. Its `cost` is a multiplier of requests, not money. */
function usageOf(data: JsonObject): Untimed<UsageEvent> | null {
  const input = asAmount(data.inputTokens)
  const output = asAmount(data.outputTokens)
  if (input === undefined && output === undefined) return null
  const cached = Math.min(input ?? 0, asAmount(data.cacheReadTokens) ?? 0)
  return defined({
    event: 'usage' as const,
    model: asString(data.model),
    input_tokens: (input ?? 0) - cached,
    output_tokens: output ?? 0,
    cache_read_tokens: cached,
    cache_write_tokens: asAmount(data.cacheWriteTokens),
    thinking_tokens: asAmount(data.reasoningTokens),
  })
}
