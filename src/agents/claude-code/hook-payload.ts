import type { HookEventDetail, ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asArray, asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { type PayloadReader, promptDetail, type StopFacts } from '../hooks/event-detail.ts'
import { durationIn, exitCodeFrom, outcomeOf, resultText, textIn } from '../hooks/payload.ts'
import { toolCall, toolPurposes } from '../hooks/tool-action.ts'

export const claudeHookPayload: PayloadReader = {
  call: callOf,
  outcome: successOutcome,
  failure: failureOutcome,
  stop: stopOf,
  own: { prompt: claudePrompt },
}

/** Newer versions send `source`; these values mark a prompt that a person did not send, directly or through a program. */
const machineSources: readonly unknown[] = ['system', 'loop_wakeup', 'schedule_wakeup', 'poll_event']

export function claudePrompt(payload: JsonObject): HookEventDetail {
  const isSynthetic =
    asString(payload.prompt)?.trimStart().startsWith('<task-notification>') === true ||
    machineSources.includes(payload.source) ||
    // Codex sends a subagent's task as its prompt.
    textIn(payload, 'agent_id') !== null
  return promptDetail(payload.prompt, isSynthetic)
}

function callOf(payload: JsonObject): ToolCall {
  return toolCall(claudeTools, {
    id: textIn(payload, 'tool_use_id'),
    tool: textIn(payload, 'tool_name'),
    input: payload.tool_input,
    server: textIn(asObject(payload.mcp_server) ?? {}, 'name'),
  })
}

function stopOf(payload: JsonObject): StopFacts {
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
