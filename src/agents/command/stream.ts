import { type AgentEvent, agentFailures, type Untimed } from '../../core/event.ts'
import {
  asAmount,
  asBoolean,
  asInteger,
  asString,
  asStrings,
  defined,
  type JsonObject,
  parseObject,
} from '../../core/json-fields.ts'
import type { FailureReport } from '../contract.ts'
import { createUsageMeter, type StreamParser } from '../stream.ts'

/**
 * Gantry events, one JSON object per line, for agents written for Gantry. Any other line is kept as `raw`; so are
 * `spawn` and `complete`, because only the driver knows when the process started and ended.
 */
export function createStreamParser(): StreamParser {
  const meter = createUsageMeter()
  let turns = 0
  /** A call without a message since the last result is a separate answer of the model. */
  let answerExpected = true
  let finalText: string | null = null
  let failure: FailureReport | null = null
  return {
    push(line) {
      if (line.trim() === '') return []
      const value = parseObject(line)
      const event = value === null ? null : readEvent(value)
      if (event === null) return [{ event: 'raw', line }]
      if (event.event === 'usage') meter.add(event)
      if (event.event === 'error') failure = { reason: event.reason, message: event.message }
      // Continuing after an error means that the agent has recovered.
      if (event.event === 'tool_call' || (event.event === 'message' && event.role === 'assistant')) {
        failure = null
        if (event.parent_id === undefined) {
          if (event.event === 'message' || answerExpected) turns += 1
          if (event.event === 'message') finalText = event.text
          answerExpected = false
        }
      }
      if (event.event === 'tool_result' && event.parent_id === undefined) answerExpected = true
      return [event]
    },
    turns: () => turns,
    usage: meter.total,
    end: () => ({ finalText, failure, ...meter.total() }),
  }
}

const roles = ['assistant', 'user', 'system', 'thinking'] as const

/**
 * An event written by the agent; null when a required field is missing or wrong. Other fields, including the time, are
 * dropped: the log sets its own.
 */
function readEvent(line: JsonObject): Untimed<AgentEvent> | null {
  const text = asString(line.text)
  const parent_id = asString(line.parent_id)
  const id = asString(line.id)
  switch (line.event) {
    case 'session':
      return sessionEvent(line)
    case 'output': {
      const stream = line.stream === 'stderr' ? ('stderr' as const) : ('stdout' as const)
      return text === undefined ? null : defined({ event: 'output' as const, text, stream })
    }
    case 'message': {
      const role = line.role === undefined ? 'assistant' : roles.find((known) => known === line.role)
      if (text === undefined || role === undefined) return null
      return defined({ event: 'message' as const, role, text, model: asString(line.model), parent_id })
    }
    case 'tool_call': {
      const tool = asString(line.tool)
      const command = asString(line.command)
      return tool === undefined
        ? null
        : defined({ event: 'tool_call' as const, id, tool, command, input: line.input, parent_id })
    }
    case 'tool_result':
      return defined({
        event: 'tool_result' as const,
        id,
        output: asString(line.output) ?? '',
        exit_code: asInteger(line.exit_code),
        is_error: asBoolean(line.is_error),
        duration_secs: asAmount(line.duration_secs),
        parent_id,
      })
    case 'usage':
      return usageEvent(line)
    case 'hook':
      return hookEvent(line)
    case 'error': {
      const message = asString(line.message)
      const reason = agentFailures.find((known) => known === line.reason)
      return message === undefined || reason === undefined ? null : { event: 'error', reason, message }
    }
    default:
      return null
  }
}

function sessionEvent(line: JsonObject): Untimed<AgentEvent> | null {
  const agent = asString(line.agent)
  if (agent === undefined) return null
  return defined({
    event: 'session' as const,
    agent,
    agent_version: asString(line.agent_version),
    session_id: asString(line.session_id),
    model: asString(line.model),
    tools: asStrings(line.tools),
    skills: asStrings(line.skills),
    agents: asStrings(line.agents),
    commands: asStrings(line.commands),
    plugins: asStrings(line.plugins),
    plugin_errors: asStrings(line.plugin_errors),
    mcp_servers: asStrings(line.mcp_servers),
    permission_mode: asString(line.permission_mode),
  })
}

/** A wrong amount makes the whole line unknown: reading it as zero would hide an exceeded budget. */
function usageEvent(line: JsonObject): Untimed<AgentEvent> | null {
  const amounts = {
    input_tokens: asAmount(line.input_tokens),
    output_tokens: asAmount(line.output_tokens),
    cache_read_tokens: asAmount(line.cache_read_tokens),
    cache_write_tokens: asAmount(line.cache_write_tokens),
    thinking_tokens: asAmount(line.thinking_tokens),
    cost_usd: asAmount(line.cost_usd),
  }
  if (Object.entries(amounts).some(([key, amount]) => line[key] !== undefined && amount === undefined))
    return null
  const { input_tokens = 0, output_tokens = 0, ...rest } = amounts
  return defined({
    event: 'usage' as const,
    model: asString(line.model),
    input_tokens,
    output_tokens,
    ...rest,
  })
}

function hookEvent(line: JsonObject): Untimed<AgentEvent> | null {
  const hook = asString(line.hook)
  if (hook === undefined) return null
  return defined({
    event: 'hook' as const,
    hook,
    name: asString(line.name),
    outcome: asString(line.outcome),
    output: asString(line.output),
    exit_code: asInteger(line.exit_code),
  })
}
