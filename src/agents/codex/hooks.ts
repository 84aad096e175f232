import type { ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { claudePrompt } from '../claude-code/hook-payload.ts'
import type { HookCodec, HookReply } from '../hook-codec.ts'
import { blocking, type HookMessages, jsonHookReply } from '../hooks/answer.ts'
import { defineCodec, impossible, type KnownEvent, noVeto, partly } from '../hooks/define-codec.ts'
import {
  claudeSender,
  exitCodeFrom,
  firstAbsolutePath,
  outcomeOf,
  resultText,
  textIn,
} from '../hooks/payload.ts'
import { toolCall, toolPurposes } from '../hooks/tool-action.ts'

const known = new Map<string, KnownEvent>([
  ['SessionStart', { kind: 'session_start', context: true, notice: true }],
  ['UserPromptSubmit', { kind: 'prompt', block: true, context: true, notice: true }],
  ['PreToolUse', { kind: 'tool_before', block: true, notice: true, matcher: '*' }],
  ['PostToolUse', { kind: 'tool_after', context: true, notice: true, matcher: '*' }],
  ['PreCompact', { kind: 'compact_before', notice: true }],
  ['PostCompact', { kind: 'compact_after', notice: true, isRegistered: false }],
  ['SubagentStart', { kind: 'subagent_start', context: true, notice: true }],
  ['SubagentStop', { kind: 'subagent_stop', block: true, notice: true }],
  ['Stop', { kind: 'stop', block: true, notice: true }],
  // Codex gives it one second.
  ['SessionEnd', { kind: 'session_end', timeoutSeconds: 1 }],
])

const tools = toolPurposes({
  bash: 'Bash exec_command shell',
  patch: 'apply_patch',
  subagent: 'Agent spawn_agent',
  read: 'update_plan view_image wait_agent multi_agent_v1wait_agent list_agents',
})

/** Payloads have Claude Code's shape; `turn_id` identifies a turn, also when a refused stop continues it. */
export const codexCodec: HookCodec = defineCodec({
  agent: 'codex',
  limits: {
    denyTool: partly(
      'Text sent into a running command (write_stdin) and web searches trigger no hook; a shell or interpreter that would wait for such text is denied, and changes are found in the tree at the end of the turn.',
    ),
    failureSignal: impossible(
      'Codex does not report to a hook how a command ended, so no run of the agent counts as evidence; only `gantry guard verify` and runs of the gate itself do.',
    ),
    failClosed: partly(
      'Before a tool a hook that crashes or cannot be started denies the call, but one that times out, or that no person has trusted, lets it pass; everywhere else a failing hook is ignored.',
    ),
    vetoConfigChange: noVeto('Codex has no event'),
  },
  traits: { typesUnseen: true, hidesExitCodes: true },
  known,
  origin: (payload, { PWD }) => ({
    ...claudeSender(payload),
    promptId: textIn(payload, 'turn_id'),
    cwd: firstAbsolutePath(payload.cwd, PWD),
  }),
  call: callOf,
  outcome: codexOutcome,
  own: { prompt: claudePrompt },
  answer,
})

function callOf(payload: JsonObject): ToolCall {
  return toolCall(tools, {
    id: textIn(payload, 'tool_use_id'),
    tool: textIn(payload, 'tool_name'),
    input: payload.tool_input,
  })
}

/**
 * With exit code 2 Codex reads only stderr. On stdout it accepts only known fields: any other, and also `allow` or
 * `ask`, makes it drop the answer and let the call pass.
 */
function answer(name: string, { block, context, notice }: HookMessages): HookReply {
  if (block !== null) return blocking(block)
  return jsonHookReply({
    systemMessage: notice,
    hookSpecificOutput: context === null ? null : { hookEventName: name, additionalContext: context },
  })
}

/**
 * Codex sends a hook the output of a command but not its exit code: the outcome stays `unknown`, whatever the text
 * looks like. Codex itself applies a patch, and that output starts with a line about the exit code.
 */
function codexOutcome(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const { tool_response: response } = payload
  const output = resultText(response)
  if (action.kind === 'patch') {
    const exitCode = exitCodeFrom(/^Exit code: (\d+)\n/.exec(output)?.[1])
    const kind = exitCode === null ? 'unknown' : exitCode === 0 ? 'success' : 'failure'
    return outcomeOf({ kind, output })
  }
  const failed = action.kind !== 'shell' && asObject(response)?.isError === true
  return outcomeOf({
    kind: failed ? 'failure' : 'unknown',
    output,
    background: action.kind === 'shell' && action.background,
  })
}
