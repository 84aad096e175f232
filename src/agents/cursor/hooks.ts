import type { HookEventDetail, ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import {
  asArray,
  asInteger,
  asObject,
  asString,
  type JsonObject,
  parseObject,
} from '../../core/json-fields.ts'
import { claudeAnswer } from '../claude-code/hooks.ts'
import type { HookCodec, HookReply } from '../hook-codec.ts'
import { blocking, type HookMessages, jsonHookReply, silent } from '../hooks/answer.ts'
import { claudeEventName, defineCodec, type KnownEvent, noVeto, partly } from '../hooks/define-codec.ts'
import type { StopFacts } from '../hooks/event-detail.ts'
import { durationIn, firstAbsolutePath, outcomeOf, resultText, textIn } from '../hooks/payload.ts'
import { toolCall, toolPurposes } from '../hooks/tool-action.ts'

/** The events of single tools are not registered: preToolUse and postToolUse cover all of them, and nothing must count twice. */
const known = new Map<string, KnownEvent>([
  ['beforeShellExecution', { kind: 'tool_before', block: true, isRegistered: false }],
  ['beforeMCPExecution', { kind: 'tool_before', block: true, isRegistered: false }],
  ['beforeReadFile', { kind: 'tool_before', block: true, isRegistered: false }],
  ['afterShellExecution', { kind: 'tool_after', isRegistered: false }],
  ['afterMCPExecution', { kind: 'tool_after', isRegistered: false }],
  ['afterFileEdit', { kind: 'tool_after', isRegistered: false }],
  ['sessionStart', { kind: 'session_start', context: true }],
  ['beforeSubmitPrompt', { kind: 'prompt', block: true }],
  ['preToolUse', { kind: 'tool_before', block: true }],
  ['postToolUse', { kind: 'tool_after', context: true }],
  ['postToolUseFailure', { kind: 'tool_after' }],
  ['stop', { kind: 'stop', block: true }],
  ['subagentStart', { kind: 'subagent_start' }],
  ['subagentStop', { kind: 'subagent_stop', block: true }],
  ['preCompact', { kind: 'compact_before', notice: true }],
  ['sessionEnd', { kind: 'session_end' }],
])

/** Event names of a Claude Code hook, as Cursor may send them. */
const ownNames = new Map([
  ['SessionStart', 'sessionStart'],
  ['SessionEnd', 'sessionEnd'],
  ['UserPromptSubmit', 'beforeSubmitPrompt'],
  ['PreToolUse', 'preToolUse'],
  ['PostToolUse', 'postToolUse'],
  ['PostToolUseFailure', 'postToolUseFailure'],
  ['Stop', 'stop'],
  ['SubagentStart', 'subagentStart'],
  ['SubagentStop', 'subagentStop'],
])

const claudeNames = new Map([...ownNames].map(([claudes, own]) => [own, claudes]))

/**
 * Without an opinion it answers with an empty object: Cursor cannot read an empty answer, and with `failClosed` it would block everything.
 */
const noOpinion: HookReply = { stdout: '{}', stderr: '', exitCode: 0 }

export const cursorCodec: HookCodec = codec(answer, noOpinion)

/** For a hook that was installed for Claude Code and that Cursor runs too: it expects Claude Code's format. */
export const cursorAsClaudeCodec: HookCodec = codec((name, said) => {
  const claudeName = claudeNames.get(name)
  return claudeName === undefined ? silent : claudeAnswer(claudeName, said)
}, silent)

/**
 * Based on documentation and on other tools that use these hooks, not on payloads of a real Cursor. So every field is
 * read leniently, and missing fields stay unknown. `user_email` is never stored.
 */
function codec(answerEvent: (name: string, said: HookMessages) => HookReply, nothing: HookReply): HookCodec {
  return defineCodec({
    noOpinion: nothing,
    agent: 'cursor',
    limits: {
      refuseStop: partly(
        'A stop is answered with a message that Cursor sends as the next prompt; cloud agents run no such hook, and there the guard only records.',
      ),
      refuseSubagentStop: partly(
        'A subagent’s stop is answered with a message for it; cloud agents run no such hook, and the gate at the end of the main turn checks the same tree.',
      ),
      relayCompaction: partly(
        'Cursor does not restart the session after a compaction; the guard saves the state and injects it at the start of the next session only.',
      ),
      failureSignal: partly(
        'How a command ended is in the result of the tool, if at all; a run without an exit code does not count as evidence.',
      ),
      failClosed: partly(
        'A failing hook blocks only where `failClosed` is set, which the guard does before tools and at stops.',
      ),
      vetoConfigChange: noVeto('Cursor has no event'),
    },
    traits: { hidesExitCodes: true },
    known,
    nameIn(payload, caller) {
      const name = claudeEventName(payload, caller)
      return name === null ? null : (ownNames.get(name) ?? name)
    },
    origin(payload, { CURSOR_PROJECT_DIR, CLAUDE_PROJECT_DIR, PWD }) {
      const root = firstAbsolutePath(
        CURSOR_PROJECT_DIR,
        ...asArray(payload.workspace_roots),
        CLAUDE_PROJECT_DIR,
      )
      return {
        session: textIn(payload, 'conversation_id', 'session_id') ?? 'unknown',
        agentId: textIn(payload, 'subagent_id', 'agent_id'),
        agentType: textIn(payload, 'subagent_type', 'agent_type'),
        // `generation_id` changes with the message that refuses a stop, so it does not identify a prompt of a person.
        promptId: null,
        cwd: firstAbsolutePath(payload.cwd, root, PWD),
        root,
      }
    },
    call: callOf,
    outcome: outcomeIn,
    failure: failureIn,
    stop: stopOf,
    own: {
      session_end: (payload) => ({ kind: 'session_end', reason: textIn(payload, 'reason', 'final_status') }),
      stop: (payload) => endOf(payload) ?? { kind: 'stop', ...stopOf(payload) },
    },
    answer: answerEvent,
    isFirstStop: ({ loop_count, stop_hook_active, status }) =>
      (loop_count === 0 || stop_hook_active === false) && status !== 'aborted' && status !== 'error',
  })
}

function answer(name: string, { block, context, notice }: HookMessages): HookReply {
  const kind = known.get(name)?.kind
  if (kind === 'prompt')
    return block === null
      ? jsonHookReply({ continue: true })
      : blocking(block, { continue: false, user_message: block })
  if (block === null)
    return { ...noOpinion, ...spoken(jsonHookReply({ additional_context: context, user_message: notice })) }
  if (kind === 'stop' || kind === 'subagent_stop') return jsonHookReply({ followup_message: block })
  return blocking(block, { permission: 'deny', user_message: block, agent_message: block })
}

function spoken(reply: HookReply): Partial<HookReply> {
  return reply.stdout === '' ? {} : reply
}

const tools = toolPurposes({
  bash: 'Shell Bash',
  write: 'Write',
  edit: 'Edit StrReplace MultiEdit NotebookEdit EditNotebook',
  patch: 'ApplyPatch',
  subagent: 'Task',
  read: 'Read ReadFile Grep Glob LS SemanticSearch WebFetch WebSearch TodoWrite ReadLints',
})

/** Events of a single tool have its input at the top level. */
const toolOfEvent: Readonly<Record<string, string>> = {
  beforeShellExecution: 'Shell',
  afterShellExecution: 'Shell',
  beforeReadFile: 'Read',
  afterFileEdit: 'Edit',
}

function callOf(payload: JsonObject, name: string): ToolCall {
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

/** `tool_output` is JSON in a string; that of a shell has an exit code. */
function outcomeIn(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const reported = payload.tool_output ?? payload.output ?? payload.result_json
  const result = asObject(reported) ?? (typeof reported === 'string' ? parseObject(reported) : null)
  const duration = durationIn(payload, 'duration')
  if (action.kind !== 'shell')
    return outcomeOf({ kind: 'success', output: resultText(result ?? reported), ...duration })
  const exitCode = action.background ? null : (asInteger(result?.exitCode ?? result?.exit_code) ?? null)
  const printed = [asString(result?.stdout), asString(result?.stderr)].filter((text) => text).join('\n')
  return outcomeOf({
    kind: exitCode === null ? 'unknown' : exitCode === 0 ? 'success' : 'failure',
    exitCode,
    output: printed || resultText(result?.output ?? reported),
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

/** A turn that failed or was stopped by the user does not claim to be done. */
function endOf(payload: JsonObject): HookEventDetail | null {
  const status = textIn(payload, 'status')
  if (status !== 'aborted' && status !== 'error') return null
  return { kind: 'stop_failed', error: textIn(payload, 'error_message') ?? status }
}

function stopOf(payload: JsonObject): StopFacts {
  return {
    again: (asInteger(payload.loop_count) ?? 0) > 0 || payload.stop_hook_active === true,
    lastMessage: textIn(payload, 'last_assistant_message', 'summary'),
    background: false,
  }
}
