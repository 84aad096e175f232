import type { HookHappening, ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asInteger, asObject, asString, type JsonObject, parseObject } from '../../core/json-fields.ts'
import { isOwnRefusal } from '../../core/refusal-mark.ts'
import { sessionSource } from '../claude-code/hook-payload.ts'
import { durationIn, outcomeOf, resultText, textIn } from '../hooks/payload.ts'
import { type ToolWord, toolCall } from '../hooks/tool-action.ts'

/**
 * By documentation and by what other tools that sit in these hooks report; no payload of a real Cursor was at hand. So every
 * field is read leniently, and what is missing stays unknown. `user_email` of a payload is never kept.
 */
export function cursorHappening(name: string, payload: JsonObject): HookHappening {
  switch (name) {
    case 'sessionStart':
      return { kind: 'session_start', source: sessionSource(payload.source) }
    case 'sessionEnd':
      return { kind: 'session_end', reason: textIn(payload, 'reason', 'final_status') }
    case 'beforeSubmitPrompt': {
      const text = asString(payload.prompt) ?? ''
      return { kind: 'prompt', text, synthetic: isOwnRefusal(text) }
    }
    case 'preToolUse':
    case 'beforeMCPExecution':
    case 'beforeShellExecution':
    case 'beforeReadFile':
      return { kind: 'tool_before', call: callOf(name, payload) }
    case 'postToolUse':
    case 'afterMCPExecution':
    case 'afterShellExecution':
    case 'afterFileEdit': {
      const call = callOf(name, payload)
      return { kind: 'tool_after', call, outcome: outcomeIn(payload, call) }
    }
    case 'postToolUseFailure':
      return { kind: 'tool_after', call: callOf(name, payload), outcome: failureIn(payload) }
    case 'stop':
      return endOf(payload) ?? { kind: 'stop', ...stopOf(payload) }
    case 'subagentStart':
      return { kind: 'subagent_start' }
    case 'subagentStop':
      return { kind: 'subagent_stop', ...stopOf(payload) }
    case 'preCompact':
      return { kind: 'compact_before', trigger: textIn(payload, 'trigger') }
    default:
      return { kind: 'other', name }
  }
}

const tools = new Map<string, ToolWord>([
  ['Shell', 'bash'],
  ['Bash', 'bash'],
  ['Write', 'write'],
  ['Edit', 'edit'],
  ['StrReplace', 'edit'],
  ['MultiEdit', 'edit'],
  ['NotebookEdit', 'edit'],
  ['EditNotebook', 'edit'],
  ['ApplyPatch', 'patch'],
  ['Task', 'subagent'],
  ...[
    'Read',
    'ReadFile',
    'Grep',
    'Glob',
    'LS',
    'SemanticSearch',
    'WebFetch',
    'WebSearch',
    'TodoWrite',
    'ReadLints',
  ].map((tool): [string, ToolWord] => [tool, 'read']),
])

/** Events of one tool only have its input at the top. */
const toolOfEvent: Readonly<Record<string, string>> = {
  beforeShellExecution: 'Shell',
  afterShellExecution: 'Shell',
  beforeReadFile: 'Read',
  afterFileEdit: 'Edit',
}

function callOf(name: string, payload: JsonObject): ToolCall {
  const own = Object.hasOwn(toolOfEvent, name) ? toolOfEvent[name] : undefined
  return toolCall(tools, {
    id: textIn(payload, 'tool_use_id'),
    tool: own ?? textIn(payload, 'tool_name'),
    input: own === undefined ? payload.tool_input : inputAtTop(payload),
    server: name.endsWith('MCPExecution') ? textIn(payload, 'server', 'url', 'command') : null,
  })
}

function inputAtTop({ command, cwd, file_path, edits }: JsonObject): JsonObject {
  const fields = { command, working_directory: cwd, file_path, edits }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** `tool_output` is JSON in a string; a shell's has an exit code. */
function outcomeIn(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const told = payload.tool_output ?? payload.output ?? payload.result_json
  const result = asObject(told) ?? (typeof told === 'string' ? parseObject(told) : null)
  const duration = durationIn(payload, 'duration')
  if (action.kind !== 'shell')
    return outcomeOf({ kind: 'success', output: resultText(result ?? told), ...duration })
  const exitCode = action.background ? null : (asInteger(result?.exitCode ?? result?.exit_code) ?? null)
  const printed = [asString(result?.stdout), asString(result?.stderr)].filter((text) => text).join('\n')
  return outcomeOf({
    kind: exitCode === null ? 'unknown' : exitCode === 0 ? 'success' : 'failure',
    exitCode,
    output: printed || resultText(result?.output ?? told),
    background: action.background,
    ...duration,
  })
}

function failureIn(payload: JsonObject): ToolOutcome {
  const output = textIn(payload, 'error_message', 'error') ?? ''
  const type = textIn(payload, 'failure_type')
  return outcomeOf({
    kind: 'failure',
    exitCode: asInteger(payload.exit_code) ?? null,
    output,
    interrupted: payload.is_interrupt === true,
    timedOut: type === 'timeout',
    ...durationIn(payload, 'duration'),
  })
}

/** A turn that broke off or was stopped by the person is not one that claims to be done. */
function endOf(payload: JsonObject): HookHappening | null {
  const status = textIn(payload, 'status')
  if (status !== 'aborted' && status !== 'error') return null
  return { kind: 'stop_failed', error: textIn(payload, 'error_message') ?? status }
}

function stopOf(payload: JsonObject) {
  return {
    again: (asInteger(payload.loop_count) ?? 0) > 0 || payload.stop_hook_active === true,
    lastMessage: textIn(payload, 'last_assistant_message', 'summary'),
    background: false,
  }
}
