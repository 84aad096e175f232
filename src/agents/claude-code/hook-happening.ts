import type { HookHappening, SessionSource } from '../../core/hook-event.ts'
import { asArray, asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { isOwnRefusal } from '../../core/refusal-mark.ts'
import { textIn } from '../hooks/payload.ts'
import { toolCall } from '../hooks/tool-call.ts'
import { failureOutcome, successOutcome } from './hook-outcome.ts'
import { claudeTools } from './hook-tools.ts'

/** What happened, by the event's name; an event no rule looks at is `other`. */
export function claudeHappening(name: string, payload: JsonObject): HookHappening {
  switch (name) {
    case 'SessionStart':
      return { kind: 'session_start', source: sessionSource(payload.source) }
    case 'SessionEnd':
      return { kind: 'session_end', reason: textIn(payload, 'reason') }
    case 'UserPromptSubmit':
      return promptOf(payload)
    case 'PreToolUse':
      return { kind: 'tool_before', call: callOf(payload) }
    case 'PostToolUse': {
      const call = callOf(payload)
      return { kind: 'tool_after', call, outcome: successOutcome(payload, call) }
    }
    case 'PostToolUseFailure':
      return { kind: 'tool_after', call: callOf(payload), outcome: failureOutcome(payload) }
    case 'PermissionDenied':
      return { kind: 'tool_denied', call: callOf(payload), reason: textIn(payload, 'reason') }
    case 'Stop':
      return { kind: 'stop', ...stopOf(payload) }
    case 'SubagentStop':
      return { kind: 'subagent_stop', ...stopOf(payload) }
    case 'StopFailure':
      return { kind: 'stop_failed', error: textIn(payload, 'error_details', 'error') }
    case 'SubagentStart':
      return { kind: 'subagent_start' }
    case 'PreCompact':
      return { kind: 'compact_before', trigger: textIn(payload, 'trigger') }
    case 'PostCompact':
      return { kind: 'compact_after', summary: textIn(payload, 'compact_summary') }
    case 'ConfigChange':
      return {
        kind: 'config_change',
        source: textIn(payload, 'source'),
        path: textIn(payload, 'file_path'),
      }
    default:
      return { kind: 'other', name }
  }
}

/** One that is not known yet goes on with something rather than beginning: it must not reset what was declared. */
export function sessionSource(source: unknown): SessionSource {
  const known = sources.find((one) => one === source)
  return known ?? (source === undefined || source === 'new' ? 'startup' : 'resume')
}

const sources: readonly SessionSource[] = ['startup', 'resume', 'clear', 'compact', 'fork']

/** `source` is there from some versions on: what neither a person nor a program that speaks for one has sent. */
const machineSources: readonly unknown[] = ['system', 'loop_wakeup', 'schedule_wakeup', 'poll_event']

function promptOf(payload: JsonObject): HookHappening {
  const text = asString(payload.prompt) ?? ''
  const synthetic =
    text.trimStart().startsWith('<task-notification>') ||
    machineSources.includes(payload.source) ||
    // Codex tells a subagent's task as its prompt.
    textIn(payload, 'agent_id') !== null ||
    isOwnRefusal(text)
  return { kind: 'prompt', text, synthetic }
}

function callOf(payload: JsonObject) {
  return toolCall(claudeTools, {
    id: textIn(payload, 'tool_use_id'),
    tool: textIn(payload, 'tool_name'),
    input: payload.tool_input,
    server: textIn(asObject(payload.mcp_server) ?? {}, 'name'),
  })
}

function stopOf(payload: JsonObject) {
  const others = asArray(payload.background_tasks).filter((task) => !isItself(payload, task))
  return {
    again: payload.stop_hook_active === true,
    lastMessage: textIn(payload, 'last_assistant_message'),
    background: others.length > 0 || asArray(payload.session_crons).length > 0,
  }
}

/** A subagent in the background is still on the list while it stops. */
function isItself(payload: JsonObject, task: unknown): boolean {
  const id = textIn(payload, 'agent_id')
  return id !== null && asObject(task)?.id === id
}
