import type { HookHappening, SessionSource, ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asArray, asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { isOwnRefusal } from '../../core/refusal-mark.ts'
import { durationIn, exitCodeFrom, outcomeOf, resultText, textIn } from '../hooks/payload.ts'
import { type ToolWord, toolCall } from '../hooks/tool-action.ts'

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

/** Newer versions send `source`; these values mark a prompt that no person sent, directly or through a program. */
const machineSources: readonly unknown[] = ['system', 'loop_wakeup', 'schedule_wakeup', 'poll_event']

function promptOf(payload: JsonObject): HookHappening {
  const text = asString(payload.prompt) ?? ''
  const synthetic =
    text.trimStart().startsWith('<task-notification>') ||
    machineSources.includes(payload.source) ||
    // Codex sends a subagent's task as its prompt.
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

/**
 * Of PostToolUse, which comes only after success. A shell's exit code is not in it: it is 0, unless the command was only
 * started, ran into its time, was interrupted, or ended with another code that Claude Code takes for an answer, as grep's 1.
 */
function successOutcome(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const response = asObject(payload.tool_response)
  const duration = durationIn(payload, 'duration_ms')
  const background = isSet(response?.backgroundTaskId) || response?.status === 'async_launched'
  if (action.kind !== 'shell')
    return outcomeOf({ kind: 'success', output: resultText(payload.tool_response), background, ...duration })
  const timedOut = isSet(response?.timedOutAfterMs)
  const interrupted = response?.interrupted === true
  const started = background || action.background
  const output = [asString(response?.stdout), asString(response?.stderr)].filter((text) => text).join('\n')
  const ended = response !== null && !timedOut && !interrupted && !started
  return outcomeOf({
    kind: ended ? 'success' : 'unknown',
    exitCode: ended && !isSet(response.returnCodeInterpretation) ? 0 : null,
    output,
    interrupted,
    timedOut,
    background: started,
    ...duration,
  })
}

/** Of PostToolUseFailure: a shell's error begins with a line `Exit code N`. */
function failureOutcome(payload: JsonObject): ToolOutcome {
  const error = asString(payload.error) ?? resultText(payload.error)
  return outcomeOf({
    kind: 'failure',
    exitCode: exitCodeFrom(/^Exit code (\d+)\b/.exec(error)?.[1]),
    output: error,
    interrupted: payload.is_interrupt === true,
    timedOut: /^(?:Exit code \d+\n)?Command timed out after\b/.test(error),
    ...durationIn(payload, 'duration_ms'),
  })
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== ''
}

/** Claude Code's tools. What is not here, such as a tool of an MCP server, is judged by all that its input names. */
export const claudeTools: ReadonlyMap<string, ToolWord> = new Map<string, ToolWord>([
  ['Bash', 'bash'],
  ['PowerShell', 'powershell'],
  ['Monitor', 'watch'],
  ['Write', 'write'],
  ['Edit', 'edit'],
  ['MultiEdit', 'edit'],
  ['NotebookEdit', 'edit'],
  ['Agent', 'subagent'],
  ['Task', 'subagent'],
  ...[
    'Read',
    'NotebookRead',
    'Glob',
    'Grep',
    'LS',
    'WebFetch',
    'WebSearch',
    'ToolSearch',
    'Skill',
    'TodoWrite',
    'TaskCreate',
    'TaskGet',
    'TaskList',
    'TaskOutput',
    'TaskStop',
    'TaskUpdate',
    'BashOutput',
    'KillShell',
    'AskUserQuestion',
    'EnterPlanMode',
    'ExitPlanMode',
  ].map((tool): [string, ToolWord] => [tool, 'read']),
])
