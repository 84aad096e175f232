import type { AgentEvent, Untimed, UsageEvent } from '../../core/event.ts'
import {
  asAmount,
  asArray,
  asInteger,
  asObject,
  asString,
  defined,
  type JsonObject,
} from '../../core/json-fields.ts'
import { classifyFailure } from '../failure.ts'
import { type AgentEvents, lineParser, type StreamAccount, type StreamParser } from '../stream.ts'

/** `codex exec --json`. Codex reports no prices. */
export const createStreamParser = (): StreamParser => lineParser(codexReader)

function codexReader({ meter, isNew, answered, expectAnswer, said, recovered, failed }: StreamAccount) {
  let total: JsonObject = {}

  const toolStarted = (item: JsonObject): AgentEvents => {
    if (!isNew('call', asString(item.id))) return []
    answered()
    return [toolCall(item)]
  }

  const completed = (item: JsonObject): AgentEvents => {
    if (isToolItem(item)) {
      const call = toolStarted(item)
      expectAnswer()
      return [...call, toolResult(item)]
    }
    const text = asString(item.text) ?? asString(item.message)
    if (text === undefined) return []
    switch (item.type) {
      case 'agent_message':
        answered()
        said(text)
        return [{ event: 'message', role: 'assistant', text }]
      case 'reasoning':
        answered()
        return [{ event: 'message', role: 'thinking', text }]
      // Codex reports its own warnings as error items: they stop nothing.
      case 'error':
        return [{ event: 'message', role: 'system', text }]
      default:
        return []
    }
  }

  const failedBy = (message: string): AgentEvents =>
    failed({ reason: classifyFailure(message) ?? 'unavailable', message })

  const used = (line: JsonObject): AgentEvents => {
    recovered()
    const usage = asObject(line.usage)
    if (usage === null) return []
    const event = usageSince(total, usage)
    total = usage
    return meter.add(event)
  }

  return (line: JsonObject): AgentEvents => {
    const item = asObject(line.item) ?? {}
    switch (line.type) {
      case 'thread.started':
        return [defined({ event: 'session' as const, agent: 'codex', session_id: asString(line.thread_id) })]
      case 'item.started':
        return isToolItem(item) ? toolStarted(item) : []
      case 'item.completed':
        return completed(item)
      case 'turn.completed':
        return used(line)
      case 'turn.failed':
        return failedBy(asString(asObject(line.error)?.message) ?? 'The turn failed.')
      case 'error':
        return failedBy(asString(line.message) ?? 'Codex reported an error.')
      default:
        return []
    }
  }
}

/** `turn.completed` reports the total of the thread so far, with cached tokens as part of the input. */
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

const toolTypes: readonly unknown[] = [
  'command_execution',
  'file_change',
  'mcp_tool_call',
  'web_search',
  'collab_tool_call',
]

function isToolItem(item: JsonObject): boolean {
  return toolTypes.includes(item.type)
}

function toolCall(item: JsonObject): Untimed<AgentEvent> {
  const command = asString(item.command)
  return defined({
    event: 'tool_call' as const,
    id: asString(item.id),
    tool: toolName(item),
    command: command === undefined ? undefined : unwrapShell(command),
    input: inputOf(item),
  })
}

function toolResult(item: JsonObject): Untimed<AgentEvent> {
  const exit_code = asInteger(item.exit_code)
  const failed = item.status === 'failed' || item.status === 'declined' || asObject(item.error) !== null
  return defined({
    event: 'tool_result' as const,
    id: asString(item.id),
    output: outputOf(item),
    exit_code,
    is_error: failed || (exit_code !== undefined && exit_code !== 0),
  })
}

function toolName(item: JsonObject): string {
  const server = asString(item.server)
  const tool = asString(item.tool)
  if (tool === undefined) return asString(item.type) ?? 'unknown'
  return server === undefined ? tool : `${server}.${tool}`
}

function inputOf(item: JsonObject): unknown {
  switch (item.type) {
    case 'command_execution':
      return { command: item.command }
    case 'file_change':
      return { path: asString(asObject(asArray(item.changes)[0])?.path), changes: item.changes }
    case 'mcp_tool_call':
      return item.arguments
    default: {
      const { id, type, status, ...rest } = item
      return rest
    }
  }
}

function outputOf(item: JsonObject): string {
  const output = asString(item.aggregated_output)
  if (output !== undefined) return output
  const error = asString(asObject(item.error)?.message)
  if (error !== undefined) return error
  const agents = asObject(item.agents_states)
  if (agents !== null) return Object.values(agents).map(agentState).join('\n')
  const content = asArray(asObject(item.result)?.content)
  return content.map((part) => asString(asObject(part)?.text) ?? JSON.stringify(part)).join('\n')
}

function agentState(value: unknown): string {
  const state = asObject(value)
  return [state?.status, state?.message].filter((word) => typeof word === 'string').join(': ')
}

/** The command inside `/bin/bash -lc '…'`, as Codex reports it; the text itself when it has no such wrapper. */
export function unwrapShell(command: string): string {
  const words = splitWords(command)
  if (words === null || words.length !== 3) return command
  const [program = '', flag = '', inner = ''] = words
  return /(^|\/)(ba|z|da|k)?sh$/.test(program) && /^-l?c$/.test(flag) ? inner : command
}

/** POSIX quoting without expansion; null when a quote is not closed. */
function splitWords(text: string): readonly string[] | null {
  const word = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.?|[^\s'"\\])+/gs
  if (text.replaceAll(word, '').trim() !== '') return null
  return (text.match(word) ?? []).map((quoted) =>
    quoted.replaceAll(
      /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.?)/gs,
      (_, single?: string, double?: string, escaped?: string) =>
        single ?? double?.replaceAll(/\\(["\\$`\n])/g, '$1') ?? escaped ?? '',
    ),
  )
}
