import type { AgentEvent, HookRunEvent, Untimed } from '../../core/event.ts'
import {
  asArray,
  asBoolean,
  asObject,
  asObjects,
  asString,
  asStrings,
  defined,
  type JsonObject,
} from '../../core/json-fields.ts'
import type { FailureReport } from '../contract.ts'
import { classifyFailure } from '../failure.ts'
import {
  type AgentEvents,
  messageOf,
  type PassedLimit,
  readLine,
  type StreamParser,
  serverName,
} from '../stream.ts'
import { createUsageLedger } from './usage-ledger.ts'

/** `claude --output-format stream-json --verbose`, with or without `--include-hook-events`. */
export function createStreamParser(): StreamParser {
  const ledger = createUsageLedger()
  let tools = createToolLog()
  let sessionId: string | undefined
  const turns = new Set<string>()
  let finalText: string | null = null
  let failure: FailureReport | null = null
  let passed: PassedLimit | undefined
  let invalid: string | undefined

  const assistant = (line: JsonObject): AgentEvents => {
    const message = asObject(line.message) ?? {}
    const id = asString(message.id)
    const model = asString(message.model)
    const parent_id = asString(line.parent_tool_use_id)
    // Claude Code's own messages have this model, such as a report of an API error: that is not a turn of the model.
    const synthetic = model === '<synthetic>'
    if (!synthetic && id !== undefined && parent_id === undefined) turns.add(id)
    const events = blocksOf(message.content).flatMap((block): AgentEvents => {
      const text = asString(block.text) ?? asString(block.thinking)
      switch (block.type) {
        case 'text':
          if (parent_id === undefined) finalText = text ?? finalText
          return messageOf('assistant', text, { model, parent_id })
        case 'thinking':
          return messageOf('thinking', text, { model, parent_id })
        case 'tool_use':
          return tools.call(block, parent_id)
        default:
          return []
      }
    })
    if (!synthetic && parent_id === undefined && line.error === undefined) failure = null
    return [...events, ...(synthetic ? [] : ledger.message(id, model, asObject(message.usage)))]
  }

  const user = (line: JsonObject): AgentEvents => {
    const parent_id = asString(line.parent_tool_use_id)
    const role = line.isSynthetic === true ? 'system' : 'user'
    return blocksOf(asObject(line.message)?.content).flatMap((block): AgentEvents => {
      if (block.type === 'tool_result') return tools.result(block, line)
      return block.type === 'text' ? messageOf(role, asString(block.text), { parent_id }) : []
    })
  }

  const result = (line: JsonObject): AgentEvents => {
    finalText = asString(line.result) ?? finalText
    failure = failureOf(line)
    passed = passedBy(line)
    const errors: AgentEvents = failure === null ? [] : [{ event: 'error', ...failure }]
    return [...tools.denials(asArray(line.permission_denials)), ...ledger.result(line), ...errors]
  }

  /** Ids are unique within one conversation, and a script or cassette may reuse them in the next. */
  const beginConversation = (id: string | undefined): void => {
    if (sessionId !== undefined && id !== sessionId) {
      tools = createToolLog()
      ledger.forgetMessages()
    }
    sessionId = id
  }

  const system = (line: JsonObject): AgentEvents => {
    switch (line.subtype) {
      case 'init':
        invalid ??= pluginProblem(line)
        beginConversation(asString(line.session_id))
        return [sessionEvent(line)]
      case 'hook_started':
        return [{ ...hookEvent(line), outcome: 'started' }]
      case 'hook_response':
        return [hookEvent(line)]
      case 'informational':
      case 'notification':
        // What Claude Code shows its user besides the conversation.
        return messageOf('system', asString(line.content) ?? asString(line.text))
      case 'api_retry':
        failure = retryFailure(line)
        return [{ event: 'error', ...failure }]
      default:
        return []
    }
  }

  const read = (line: JsonObject): AgentEvents => {
    switch (line.type) {
      case 'system':
        return system(line)
      case 'assistant':
        return assistant(line)
      case 'user':
        return user(line)
      case 'result':
        return result(line)
      case 'conversation_reset':
        ledger.restart()
        return []
      default:
        return []
    }
  }

  return {
    push: (line) => readLine(line, read),
    turns: () => turns.size,
    usage: () => ledger.total(),
    end: () => ({ finalText, failure, ...ledger.total(), ...defined({ invalid, passed }) }),
  }
}

/** Content is a list of blocks, or one string. */
function blocksOf(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return asObjects(content)
}

function sessionEvent(line: JsonObject): Untimed<AgentEvent> {
  return defined({
    event: 'session' as const,
    agent: 'claude-code',
    agent_version: asString(line.claude_code_version),
    session_id: asString(line.session_id),
    model: asString(line.model),
    tools: asArray(line.tools).filter((tool) => typeof tool === 'string'),
    skills: asStrings(line.skills),
    agents: asStrings(line.agents),
    commands: asStrings(line.slash_commands),
    plugins: asArray(line.plugins).map(nameOf),
    plugin_errors: line.plugin_errors === undefined ? undefined : asArray(line.plugin_errors).map(wordsOf),
    mcp_servers: asArray(line.mcp_servers).map(serverName),
    permission_mode: asString(line.permissionMode),
  })
}

/** Claude Code continues silently without a plugin, or without its hooks. */
function pluginProblem(line: JsonObject): string | undefined {
  const errors = asArray(line.plugin_errors).map(pluginErrorText)
  return errors.length === 0 ? undefined : `a plugin did not load: ${errors.join('; ')}`
}

function hookEvent(line: JsonObject): Untimed<HookRunEvent> {
  const exitCode = line.exit_code
  return defined({
    event: 'hook' as const,
    hook: asString(line.hook_event) ?? 'unknown',
    name: asString(line.hook_name),
    outcome: asString(line.outcome),
    output: asString(line.output),
    exit_code: typeof exitCode === 'number' ? exitCode : undefined,
    hook_id: asString(line.hook_id),
    session_id: asString(line.session_id),
    stdout: asString(line.stdout),
    stderr: asString(line.stderr),
  })
}

/**
 * An API failure is a `result` of subtype `success` with `is_error`. User-set limits (`error_max_turns`,
 * `error_max_budget_usd`) are errors too, but not infrastructure failures.
 */
function failureOf(line: JsonObject): FailureReport | null {
  if (line.stop_reason === 'refusal') {
    return { reason: 'refused', message: asString(line.result) ?? 'The model refused to answer.' }
  }
  if (line.is_error !== true || /^error_max_/.test(asString(line.subtype) ?? '')) return null
  const status = typeof line.api_error_status === 'number' ? line.api_error_status : undefined
  const said = asString(line.result) ?? asArray(line.errors).map(wordsOf).join('; ')
  const message = said === '' ? `The API answered with status ${status ?? 'unknown'}.` : said
  if (line.terminal_reason === 'blocking_limit') return { reason: 'context', message }
  const reason = classifyFailure(said, status)
  if (reason !== null) return { reason, message }
  return line.terminal_reason === 'api_error' ? { reason: 'unavailable', message } : null
}

function passedBy({ subtype }: JsonObject): PassedLimit | undefined {
  if (subtype === 'error_max_turns') return 'over_turns'
  return subtype === 'error_max_budget_usd' ? 'over_budget' : undefined
}

function retryFailure(line: JsonObject): FailureReport {
  const status = typeof line.error_status === 'number' ? line.error_status : undefined
  const error = asString(line.error) ?? 'unknown error'
  const message = `The model API failed (${[status, error].filter((part) => part !== undefined).join(', ')}); Claude Code tries again.`
  return { reason: classifyFailure(error, status) ?? 'unavailable', message }
}

function nameOf(value: unknown): string {
  return asString(asObject(value)?.name) ?? wordsOf(value)
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}

/** The text of one entry of `plugin_errors` in the `init` line, with its plugin. */
export function pluginErrorText(error: unknown): string {
  const about = asObject(error)
  const words = asString(about?.message) ?? (typeof error === 'string' ? error : JSON.stringify(error))
  const plugin = asString(about?.path) ?? asString(about?.plugin)
  return plugin === undefined ? words : `${plugin}: ${words}`
}

/** Joins tool calls with their results: a result names only the id of its call. */
function createToolLog() {
  const called = new Map<string, string>()
  const answered = new Set<string>()
  return {
    call(block: JsonObject, parent_id: string | undefined): AgentEvents {
      const id = asString(block.id)
      const tool = asString(block.name) ?? 'unknown'
      if (id !== undefined && called.has(id)) return []
      if (id !== undefined) called.set(id, tool)
      const command = tool === 'Bash' ? asString(asObject(block.input)?.command) : undefined
      return [defined({ event: 'tool_call' as const, id, tool, command, input: block.input, parent_id })]
    },
    /** `line` is the whole line of the result: the tool's own answer is next to the message. */
    result(block: JsonObject, line: JsonObject): AgentEvents {
      const id = asString(block.tool_use_id)
      if (id !== undefined && answered.has(id)) return []
      if (id !== undefined) answered.add(id)
      const output = textOf(block.content)
      const is_error = asBoolean(block.is_error)
      const shell = id !== undefined && called.get(id) === 'Bash'
      return [
        defined({
          event: 'tool_result' as const,
          id,
          output,
          exit_code: shell && !wasNotRun(line, id) ? shellExitCode(output, is_error, line) : undefined,
          is_error,
          parent_id: asString(line.parent_tool_use_id),
        }),
      ]
    },
    /** Denied calls that never got a result. */
    denials(list: readonly unknown[]): AgentEvents {
      return list.map(asObject).flatMap((denial): AgentEvents => {
        const id = asString(denial?.tool_use_id)
        if (id === undefined || answered.has(id)) return []
        answered.add(id)
        return [{ event: 'tool_result', id, output: 'The call was denied.', is_error: true }]
      })
    },
  }
}

function wasNotRun(line: JsonObject, id: string): boolean {
  return asArray(line.tool_result_meta).some((entry) => {
    const meta = asObject(entry)
    return meta?.id === id && meta.non_execution_kind !== undefined
  })
}

/**
 * Claude Code marks a command as an error exactly when its exit code is not 0, with the code in the first line. The
 * exceptions are accepted codes (`grep` without a match), background commands and interrupted ones.
 */
function shellExitCode(output: string, isError: boolean | undefined, line: JsonObject): number | undefined {
  if (isError === true) {
    const reported = /^(?:Error: )?Exit code (\d{1,3})\b/.exec(output)
    return reported === null ? undefined : Number(reported[1])
  }
  const own = asObject(line.tool_use_result)
  const certain =
    isError === false &&
    own?.interrupted !== true &&
    own?.backgroundTaskId === undefined &&
    own?.returnCodeInterpretation === undefined
  return certain ? 0 : undefined
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return asArray(content)
    .map((part) => asString(asObject(part)?.text) ?? `[${asString(asObject(part)?.type) ?? 'unknown'}]`)
    .join('\n')
}
