import type { ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { claudeTools } from '../claude-code/hook-payload.ts'
import type { HookCodec, HookReply } from '../hook-codec.ts'
import { blocking, type HookMessages, jsonHookReply } from '../hooks/answer.ts'
import { defineCodec, type KnownEvent, noVeto, partly } from '../hooks/define-codec.ts'
import { promptDetail, type StopFacts } from '../hooks/event-detail.ts'
import { exitCodeFrom, firstAbsolutePath, outcomeOf, textIn } from '../hooks/payload.ts'
import { toolCall, toolPurposes } from '../hooks/tool-action.ts'

/** A subagent has a separate session while it works; its start and stop are reported in that of its parent. */
function copilotSession(payload: JsonObject): string {
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

/** The event's own name, from the payload, from the command line, or from fields that only one event has. */
function copilotEventName(payload: JsonObject, asked: string | null): string | null {
  const given = textIn(payload, 'hook_event_name', 'hookName') ?? asked
  if (given === null) return eventLike(payload)
  return renamed[given] ?? given.charAt(0).toLowerCase() + given.slice(1)
}

/** Other events have Claude Code's name, but start in lower case. */
const renamed: Readonly<Record<string, string>> = {
  UserPromptSubmit: 'userPromptSubmitted',
  Stop: 'agentStop',
}

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

const tools = new Map([
  ...claudeTools,
  ...toolPurposes({
    bash: 'bash',
    powershell: 'powershell',
    write: 'create',
    edit: 'edit insert',
    patch: 'apply_patch',
    subagent: 'task',
    read:
      'view glob grep read_bash stop_bash list_bash read_powershell stop_powershell read_agent ' +
      'list_agents web_fetch web_search ask_user report_intent update_todo task_complete ' +
      'exit_plan_mode skill',
  }),
])

function callOf(payload: JsonObject): ToolCall {
  return toolCall(tools, {
    id: textIn(payload, 'toolCallId', 'tool_use_id'),
    tool: textIn(payload, 'toolName', 'tool_name'),
    input: payload.toolArgs ?? payload.tool_input ?? payload.toolInput,
  })
}

/** A shell's exit code is in the last line; without that line it is unknown. */
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
    // Without that line it still runs, or its shell waits.
    background: kind === 'unknown',
  })
}

function failureIn(payload: JsonObject): ToolOutcome {
  const output = errorText(payload.error) ?? ''
  const exitCode = exitCodeFrom(/completed with exit code (\d+)>?\s*$/.exec(output)?.[1])
  return outcomeOf({ kind: 'failure', exitCode, output })
}

function errorText(error: unknown): string | null {
  return textIn({ error }, 'error') ?? textIn(asObject(error) ?? {}, 'message')
}

function stopOf(payload: JsonObject): StopFacts {
  return {
    again: payload.stop_hook_active === true || payload.stopHookActive === true,
    lastMessage: textIn(payload, 'last_assistant_message', 'lastAssistantMessage', 'response'),
    background: false,
  }
}

/** Copilot shows a person nothing of a hook's output. */
const known = new Map<string, KnownEvent>([
  ['sessionStart', { kind: 'session_start', context: true }],
  ['userPromptSubmitted', { kind: 'prompt', block: true, context: true }],
  ['preToolUse', { kind: 'tool_before', block: true, context: true }],
  ['postToolUse', { kind: 'tool_after', context: true }],
  ['postToolUseFailure', { kind: 'tool_after', context: true }],
  ['agentStop', { kind: 'stop', block: true }],
  ['subagentStart', { kind: 'subagent_start', context: true }],
  ['subagentStop', { kind: 'subagent_stop', block: true }],
  ['preCompact', { kind: 'compact_before' }],
  ['sessionEnd', { kind: 'session_end' }],
  ['errorOccurred', { kind: 'stop_failed', isRegistered: false }],
])

/**
 * Copilot writes a payload in one of two formats: its own, in camelCase and without the event's name, and one that
 * resembles Claude Code's, for events that were registered in PascalCase, in a plugin or in `.claude/settings.json`.
 * Both are read here, by the event's own name.
 *
 * Answers are in Copilot's own format for either payload format: Copilot accepts it from a hook that was installed for
 * Claude Code too, but ignores most fields of Claude Code's `hookSpecificOutput`.
 */
export const copilotCodec: HookCodec = defineCodec({
  agent: 'copilot',
  limits: {
    refuseStop: partly(
      'Copilot ends a turn after 8 refusals in a row, whatever a hook answers; the guard gives up before that and records the end as CAPPED.',
    ),
    relayCompaction: partly(
      'Copilot does not restart the session after a compaction; the guard saves the state and injects it at the start of the next session only.',
    ),
    failureSignal: partly(
      'The exit code is in the last line of the text for the model; a command without that line does not count as evidence.',
    ),
    failClosed: partly(
      'Before a tool a hook that crashes denies the call, but one that times out lets it pass; everywhere else a failing hook is ignored.',
    ),
    vetoConfigChange: noVeto('Copilot has no event'),
  },
  traits: { keepsShell: true },
  known,
  nameIn: (payload, caller) => copilotEventName(payload, caller.event),
  origin(payload, { COPILOT_PROJECT_DIR, CLAUDE_PROJECT_DIR, PWD }) {
    const root = firstAbsolutePath(COPILOT_PROJECT_DIR, CLAUDE_PROJECT_DIR)
    return {
      session: copilotSession(payload),
      agentId: textIn(payload, 'agentId', 'agent_id'),
      agentType: textIn(payload, 'agentType', 'agent_type', 'agentName', 'agent_name'),
      cwd: firstAbsolutePath(payload.cwd, payload.workingDirectory, root, PWD),
      root,
    }
  },
  call: callOf,
  outcome: outcomeIn,
  failure: failureIn,
  stop: stopOf,
  own: {
    prompt: (payload) => promptDetail(payload.prompt, isInSubagent(payload)),
    // A subagent's stop is reported twice: subagentStop follows, in the parent session.
    stop: (payload, name) =>
      isInSubagent(payload) ? { kind: 'other', name } : { kind: 'stop', ...stopOf(payload) },
    stop_failed: ({ error }) => ({ kind: 'stop_failed', error: errorText(error) }),
  },
  answer,
  isFirstStop: ({ stop_hook_active, stopHookActive }) => (stop_hook_active ?? stopHookActive) === false,
})

/** Exit code 2 denies a tool call from 1.0.70 on, the JSON also in earlier versions; a stop is refused by JSON alone. */
function answer(name: string, { block, context }: HookMessages): HookReply {
  if (block === null) return jsonHookReply({ additionalContext: context })
  if (name !== 'preToolUse') return jsonHookReply({ decision: 'block', reason: block })
  return blocking(block, { permissionDecision: 'deny', permissionDecisionReason: block })
}
