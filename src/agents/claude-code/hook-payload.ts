import type { HookEventDetail, SessionSource, ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asArray, asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { isOwnRefusal } from '../../core/refusal-mark.ts'
import { durationIn, exitCodeFrom, outcomeOf, resultText, textIn } from '../hooks/payload.ts'
import { toolCall, toolPurposes } from '../hooks/tool-action.ts'

/** The event by its name; an event that no rule uses is `other`. */
export function readClaudeHookPayload(name: string, payload: JsonObject): HookEventDetail {
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

/** An unknown source counts as a continued session, because a new one would reset what was declared. */
export function sessionSource(source: unknown): SessionSource {
  const known = sources.find((one) => one === source)
  return known ?? (source === undefined || source === 'new' ? 'startup' : 'resume')
}

const sources: readonly SessionSource[] = ['startup', 'resume', 'clear', 'compact', 'fork']

/** Newer versions send `source`; these values mark a prompt that a person did not send, directly or through a program. */
const machineSources: readonly unknown[] = ['system', 'loop_wakeup', 'schedule_wakeup', 'poll_event']

function promptOf(payload: JsonObject): HookEventDetail {
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
  const processes = others.flatMap((task) => processOf(task) ?? [])
  return {
    again: payload.stop_hook_active === true,
    lastMessage: textIn(payload, 'last_assistant_message'),
    // Scheduled prompts (`session_crons`) are later work, not work in progress.
    background: others.length > processes.length,
    ...(processes.length > 0 && { processes }),
  }
}

/** The command of a task that is a process; null for one of an agent. */
function processOf(task: unknown): string | null {
  const { type, command } = asObject(task) ?? {}
  if (typeof command === 'string') return command
  return type === 'shell' || type === 'monitor' ? '' : null
}

/** A background subagent is still listed while it stops. */
function isItself(payload: JsonObject, task: unknown): boolean {
  const id = textIn(payload, 'agent_id')
  return id !== null && asObject(task)?.id === id
}

/**
 * For PostToolUse, which is sent only after success. It has no exit code of a shell: that is 0, unless the command was
 * only started, timed out, was interrupted, or ended with a code that Claude Code accepts, such as grep's 1.
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

/** For PostToolUseFailure: a shell's error starts with a line `Exit code N`. */
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

/** Claude Code's tools. Any other tool, such as one of an MCP server, is judged by everything that its input names. */
export const claudeTools = toolPurposes({
  bash: 'Bash',
  powershell: 'PowerShell',
  watch: 'Monitor',
  write: 'Write',
  edit: 'Edit MultiEdit NotebookEdit',
  subagent: 'Agent Task',
  read:
    'Read NotebookRead Glob Grep LS WebFetch WebSearch ToolSearch Skill TodoWrite TaskCreate TaskGet ' +
    'TaskList TaskOutput TaskStop TaskUpdate BashOutput KillShell AskUserQuestion EnterPlanMode ' +
    'ExitPlanMode',
})
