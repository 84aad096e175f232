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
import {
  type AgentEvents,
  lineParser,
  messageOf,
  type StreamAccount,
  type StreamParser,
  serverName,
} from '../stream.ts'

/** `copilot --output-format json`. Pieces of messages and outputs that are repeated whole later stay raw. */
export const createStreamParser = (): StreamParser => lineParser(copilotReader)

function copilotReader({ meter, isNew, turn, said, recovered, failed }: StreamAccount) {
  const tools = createToolLog(isNew)
  let servers: readonly string[] | undefined

  const message = (data: JsonObject, line: JsonObject): AgentEvents => {
    const parent_id = tools.parentOf(data, line)
    const text = asString(data.content) ?? ''
    if (parent_id === undefined) {
      turn(asString(data.apiCallId) ?? asString(data.messageId))
      if (text !== '') said(text)
      recovered()
    }
    const model = asString(data.model)
    return messageOf('assistant', text || undefined, { model, parent_id })
  }

  const usage = (data: JsonObject, line: JsonObject): AgentEvents => {
    const event = isNew('usage', asString(line.id)) ? usageOf(data) : null
    return event === null ? [] : meter.add(event)
  }

  return (line: JsonObject): AgentEvents => {
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
      case 'user.message':
        return messageOf('user', asString(data.content), { parent_id: tools.parentOf(data, line) })
      case 'assistant.message':
        return message(data, line)
      case 'assistant.reasoning':
        return messageOf('thinking', asString(data.content) || undefined, {
          parent_id: tools.parentOf(data, line),
        })
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
        return tools.parentOf(data, line) === undefined ? failed(failureOf(data)) : []
      case 'session.error':
        return failed(failureOf(data))
      case 'result':
        return [
          defined({ event: 'session' as const, agent: 'copilot', session_id: asString(line.sessionId) }),
        ]
      default:
        return []
    }
  }
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

/** Copilot's own error codes; the others add nothing to the message. */
const reasons: Readonly<Record<string, AgentFailure>> = {
  authentication: 'auth',
  authorization: 'auth',
  quota: 'rate_limit',
  rate_limit: 'rate_limit',
  context_limit: 'context',
}

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

const shells: readonly string[] = ['bash', 'powershell', 'local_shell']

/** Joins tool calls with their results, and subagents with the calls that started them. */
function createToolLog(isNew: StreamAccount['isNew']) {
  const answered = new Set<string>()
  const outputs = new Map<string, string[]>()
  const starters = new Map<string, string>()

  /** The call that started the subagent of this line; undefined for the main agent. */
  const parentOf = (data: JsonObject, line: JsonObject): string | undefined =>
    asString(data.parentToolCallId) ?? starters.get(asString(line.agentId) ?? '')

  return {
    started(data: JsonObject, line: JsonObject): AgentEvents {
      const id = asString(data.toolCallId)
      if (!isNew('call', id)) return []
      const name = asString(data.toolName) ?? 'unknown'
      const server = asString(data.mcpServerName)
      return [
        defined({
          event: 'tool_call' as const,
          id,
          tool: server === undefined ? name : `${server}.${asString(data.mcpToolName) ?? name}`,
          command: shells.includes(name) ? asString(asObject(data.arguments)?.command) : undefined,
          input: data.arguments,
          parent_id: parentOf(data, line),
        }),
      ]
    },
    printed(data: JsonObject, line: JsonObject): void {
      const id = asString(data.toolCallId)
      const text = asString(data.text)
      if (id === undefined || text === undefined || answered.has(id)) return
      if (!isNew('output', asString(line.id))) return
      const pieces = outputs.get(id) ?? []
      pieces.push(text)
      outputs.set(id, pieces)
    },
    completed(data: JsonObject, line: JsonObject): AgentEvents {
      const id = asString(data.toolCallId)
      if (id !== undefined && answered.has(id)) return []
      if (id !== undefined) answered.add(id)
      const exit_code = asInteger(asObject(data.shellExecution)?.exitCode)
      const printed = id === undefined ? undefined : outputs.get(id)?.join('')
      if (id !== undefined) outputs.delete(id)
      return [
        defined({
          event: 'tool_result' as const,
          id,
          output: printed ?? resultText(data),
          exit_code,
          is_error: data.success === false || (exit_code !== undefined && exit_code !== 0),
          parent_id: parentOf(data, line),
        }),
      ]
    },
    subagent(data: JsonObject, line: JsonObject): void {
      const agent = asString(line.agentId)
      const call = asString(data.toolCallId)
      if (agent !== undefined && call !== undefined) starters.set(agent, call)
    },
    parentOf,
  }
}

/** Copilot appends a line for the model to the output of a command. */
function resultText(data: JsonObject): string {
  const text = asString(asObject(data.result)?.content) ?? asString(asObject(data.error)?.message) ?? ''
  return text.replace(/\n?<shellId: \S+ completed with exit code -?\d+>$/, '')
}
