import type { HookHappening, ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { isOwnRefusal } from '../../core/refusal-mark.ts'
import { claudeTools, sessionSource } from '../claude-code/hook-payload.ts'
import { exitCodeFrom, outcomeOf, textIn } from '../hooks/payload.ts'
import { type ToolWord, toolCall } from '../hooks/tool-action.ts'

/**
 * Copilot writes a payload in one of two dialects: its own, in camelCase and without the event's name, and one that
 * resembles Claude Code's, for events that were registered in PascalCase, in a plugin or in `.claude/settings.json`. Both
 * are read here, by the event's own name.
 */
export function copilotHappening(name: string, payload: JsonObject): HookHappening {
  switch (name) {
    case 'sessionStart':
      return { kind: 'session_start', source: sessionSource(payload.source) }
    case 'sessionEnd':
      return { kind: 'session_end', reason: textIn(payload, 'reason') }
    case 'userPromptSubmitted': {
      const text = asString(payload.prompt) ?? ''
      return { kind: 'prompt', text, synthetic: isInSubagent(payload) || isOwnRefusal(text) }
    }
    case 'preToolUse':
      return { kind: 'tool_before', call: callOf(payload) }
    case 'postToolUse': {
      const call = callOf(payload)
      return { kind: 'tool_after', call, outcome: outcomeIn(payload, call) }
    }
    case 'postToolUseFailure':
      return { kind: 'tool_after', call: callOf(payload), outcome: failureIn(payload) }
    case 'agentStop':
      // A subagent's stop is reported twice: subagentStop follows, in the session it belongs to.
      return isInSubagent(payload) ? { kind: 'other', name } : { kind: 'stop', ...stopOf(payload) }
    case 'subagentStart':
      return { kind: 'subagent_start' }
    case 'subagentStop':
      return { kind: 'subagent_stop', ...stopOf(payload) }
    case 'preCompact':
      return { kind: 'compact_before', trigger: textIn(payload, 'trigger') }
    case 'errorOccurred':
      return { kind: 'stop_failed', error: textIn(payload, 'error') ?? errorMessage(payload.error) }
    default:
      return { kind: 'other', name }
  }
}

/** A subagent has a session of its own while it works; its start and stop are reported in that of its parent. */
export function copilotSession(payload: JsonObject): string {
  const own = textIn(payload, 'sessionId', 'session_id')
  const parent = own === agentIn(payload) ? textIn(payload, 'parentAgentId', 'parent_agent_id') : null
  return parent ?? own ?? 'unknown'
}

function agentIn(payload: JsonObject): string | null {
  return textIn(payload, 'agentId', 'agent_id')
}

function isInSubagent(payload: JsonObject): boolean {
  return agentIn(payload) !== null
}

/** The event's own name, from the payload, from the command line, or from what only one event has. */
export function copilotEventName(payload: JsonObject, asked: string | null): string | null {
  const told = textIn(payload, 'hook_event_name', 'hookName') ?? asked
  return told === null ? eventLike(payload) : (ownNames.get(told) ?? told)
}

const ownNames = new Map([
  ['SessionStart', 'sessionStart'],
  ['SessionEnd', 'sessionEnd'],
  ['UserPromptSubmit', 'userPromptSubmitted'],
  ['UserPromptSubmitted', 'userPromptSubmitted'],
  ['PreToolUse', 'preToolUse'],
  ['PostToolUse', 'postToolUse'],
  ['PostToolUseFailure', 'postToolUseFailure'],
  ['PermissionRequest', 'permissionRequest'],
  ['Stop', 'agentStop'],
  ['AgentStop', 'agentStop'],
  ['SubagentStart', 'subagentStart'],
  ['SubagentStop', 'subagentStop'],
  ['PreCompact', 'preCompact'],
  ['ErrorOccurred', 'errorOccurred'],
  ['Notification', 'notification'],
])

function eventLike(payload: JsonObject): string | null {
  const has = (...names: readonly string[]): boolean => names.some((name) => Object.hasOwn(payload, name))
  if (has('toolName', 'tool_name')) {
    if (has('toolResult', 'tool_result')) return 'postToolUse'
    if (has('error')) return 'postToolUseFailure'
    return has('permissionSuggestions', 'toolInput') ? 'permissionRequest' : 'preToolUse'
  }
  if (has('stopReason', 'stop_reason')) return has('agentName', 'agent_name') ? 'subagentStop' : 'agentStop'
  if (has('prompt')) return 'userPromptSubmitted'
  if (has('source')) return 'sessionStart'
  return has('reason') ? 'sessionEnd' : null
}

const tools = new Map<string, ToolWord>([
  ...claudeTools,
  ['bash', 'bash'],
  ['powershell', 'powershell'],
  ['create', 'write'],
  ['edit', 'edit'],
  ['insert', 'edit'],
  ['apply_patch', 'patch'],
  ['task', 'subagent'],
  ...[
    'view',
    'glob',
    'grep',
    'read_bash',
    'stop_bash',
    'list_bash',
    'read_powershell',
    'stop_powershell',
    'read_agent',
    'list_agents',
    'web_fetch',
    'web_search',
    'ask_user',
    'report_intent',
    'update_todo',
    'task_complete',
    'exit_plan_mode',
    'skill',
  ].map((tool): [string, ToolWord] => [tool, 'read']),
])

function callOf(payload: JsonObject): ToolCall {
  return toolCall(tools, {
    id: textIn(payload, 'toolCallId', 'tool_use_id'),
    tool: textIn(payload, 'toolName', 'tool_name'),
    input: payload.toolArgs ?? payload.tool_input ?? payload.toolInput,
  })
}

/** A shell's exit code stands in the last line; without that line its end is not known. */
function outcomeIn(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const result = asObject(payload.toolResult ?? payload.tool_result) ?? {}
  const output = textIn(result, 'textResultForLlm', 'text_result_for_llm') ?? ''
  const type = textIn(result, 'resultType', 'result_type')
  const failed = type !== null && type !== 'success'
  if (action.kind !== 'shell')
    return outcomeOf({ kind: failed ? 'failure' : 'success', output, timedOut: type === 'timeout' })
  const exitCode = exitCodeFrom(/<shellId: \S+ completed with exit code (\d+)>\s*$/.exec(output)?.[1])
  const kind = failed || (exitCode ?? 0) !== 0 ? 'failure' : exitCode === 0 ? 'success' : 'unknown'
  return outcomeOf({
    kind,
    exitCode: failed && exitCode === 0 ? null : exitCode,
    output,
    timedOut: type === 'timeout',
    // No line about the end: it still runs, or its shell waits.
    background: kind === 'unknown',
  })
}

function failureIn(payload: JsonObject): ToolOutcome {
  const output = textIn(payload, 'error') ?? errorMessage(payload.error) ?? ''
  const exitCode = exitCodeFrom(/completed with exit code (\d+)>?\s*$/.exec(output)?.[1])
  return outcomeOf({ kind: 'failure', exitCode, output })
}

function errorMessage(error: unknown): string | null {
  return textIn(asObject(error) ?? {}, 'message')
}

function stopOf(payload: JsonObject) {
  return {
    again: payload.stop_hook_active === true || payload.stopHookActive === true,
    lastMessage: textIn(payload, 'last_assistant_message', 'lastAssistantMessage', 'response'),
    background: false,
  }
}
