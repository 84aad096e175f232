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

const unreadable = Symbol('unreadable')

type Unread = undefined | typeof unreadable

/** The fields that an agent may write. Others, including the time, are dropped: the log sets its own. */
type Fields<E> = { readonly [K in Exclude<keyof E, 'event'>]?: (value: unknown) => E[K] | Unread }

/** Per event. A wrong value is dropped, but a required one makes the whole line unknown. */
const fields: { readonly [E in Untimed<AgentEvent> as E['event']]?: Fields<E> } = {
  session: {
    agent: required(asString),
    agent_version: asString,
    session_id: asString,
    model: asString,
    tools: asStrings,
    skills: asStrings,
    agents: asStrings,
    commands: asStrings,
    plugins: asStrings,
    plugin_errors: asStrings,
    mcp_servers: asStrings,
    permission_mode: asString,
  },
  output: { text: required(asString), stream: (value) => (value === 'stderr' ? value : 'stdout') },
  message: {
    role: required((value = 'assistant') => roles.find((known) => known === value)),
    text: required(asString),
    model: asString,
    parent_id: asString,
  },
  tool_call: {
    id: asString,
    tool: required(asString),
    command: asString,
    input: (value) => value,
    parent_id: asString,
  },
  tool_result: {
    id: asString,
    output: (value) => asString(value) ?? '',
    exit_code: asInteger,
    is_error: asBoolean,
    duration_secs: asAmount,
    parent_id: asString,
  },
  usage: {
    model: asString,
    input_tokens: (value = 0) => amount(value),
    output_tokens: (value = 0) => amount(value),
    cache_read_tokens: amount,
    cache_write_tokens: amount,
    thinking_tokens: amount,
    cost_usd: amount,
  },
  hook: {
    hook: required(asString),
    name: asString,
    outcome: asString,
    output: asString,
    exit_code: asInteger,
  },
  error: {
    reason: required((value) => agentFailures.find((known) => known === value)),
    message: required(asString),
  },
}

const roles = ['assistant', 'user', 'system', 'thinking'] as const

function required<T>(read: (value: unknown) => T | undefined): (value: unknown) => T | typeof unreadable {
  return (value) => read(value) ?? unreadable
}

/** A wrong amount makes the whole line unknown: reading it as zero would hide an exceeded budget. */
function amount(value: unknown): number | Unread {
  return value === undefined ? undefined : (asAmount(value) ?? unreadable)
}

/** An event written by the agent; null when a required field is missing or wrong. */
function readEvent(line: JsonObject): Untimed<AgentEvent> | null {
  const known = Object.entries(fields).find(([event]) => event === line.event)
  if (known === undefined) return null
  const [event, readers] = known
  const read = Object.entries(readers).map(([name, reader]) => [name, reader(line[name])] as const)
  if (read.some(([, value]) => value === unreadable)) return null
  return defined({ event, ...Object.fromEntries(read) }) as Untimed<AgentEvent>
}
