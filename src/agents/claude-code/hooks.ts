import type { JsonObject } from '../../core/json-fields.ts'
import type { HookCodec, HookReply } from '../hook-codec.ts'
import { blocking, type HookMessages, jsonHookReply } from '../hooks/answer.ts'
import { defineCodec, type KnownEvent, partly } from '../hooks/define-codec.ts'
import { claudeSender, firstAbsolutePath, textIn } from '../hooks/payload.ts'
import { claudeHookPayload } from './hook-payload.ts'

/**
 * All of them exist on 2.1.197, which rejects a whole file for one unknown event. `context` only where `hookSpecificOutput`
 * supports the event and the text reaches the model: any other event makes Claude Code reject the whole answer. Context at
 * a stop would continue the turn, so it is not used here.
 */
const known = new Map<string, KnownEvent>([
  ['SessionStart', { kind: 'session_start', context: true, notice: true, matcher: '*' }],
  ['UserPromptSubmit', { kind: 'prompt', block: true, context: true, notice: true }],
  ['PreToolUse', { kind: 'tool_before', block: true, context: true, notice: true, matcher: '*' }],
  ['PostToolUse', { kind: 'tool_after', context: true, notice: true, matcher: '*' }],
  ['PostToolUseFailure', { kind: 'tool_after', context: true, notice: true, matcher: '*' }],
  ['PermissionDenied', { kind: 'tool_denied', notice: true, matcher: '*' }],
  ['Stop', { kind: 'stop', block: true, notice: true }],
  ['SubagentStart', { kind: 'subagent_start', context: true, notice: true, matcher: '*' }],
  ['SubagentStop', { kind: 'subagent_stop', block: true, notice: true, matcher: '*' }],
  ['StopFailure', { kind: 'stop_failed', matcher: '*' }],
  // Output here, even JSON, is pasted into the prompt for the summary.
  ['PreCompact', { kind: 'compact_before', block: true, matcher: '*' }],
  ['PostCompact', { kind: 'compact_after', matcher: '*' }],
  ['ConfigChange', { kind: 'config_change', block: true, matcher: '*' }],
  // Plugins have 1.5 seconds in total, whatever the registered timeout is.
  ['SessionEnd', { kind: 'session_end', matcher: '*' }],
])

export const claudeCodeCodec: HookCodec = defineCodec({
  agent: 'claude-code',
  traits: {
    sandboxSettings: [
      '/etc/claude-code/managed-settings.json',
      '/etc/claude-code/managed-settings.d',
      '/Library/Application Support/ClaudeCode/managed-settings.json',
      '$CLAUDE_CONFIG_DIR/settings.json',
      '.claude/settings.json',
      '.claude/settings.local.json',
    ],
  },
  limits: {
    refuseStop: partly(
      'Claude Code ends a turn after 8 refusals in a row, whatever a hook answers; the guard gives up before that and records the end as CAPPED.',
    ),
    refuseSubagentStop: partly(
      'A background subagent may end without its hook; the gate at the end of the main turn checks the same tree.',
    ),
    failClosed: partly(
      'Before 2.1.295 a hook that cannot be started or times out lets the call pass; from then on it blocks before a tool, and nowhere else.',
    ),
    vetoConfigChange: partly(
      'Managed settings cannot be vetoed, and a change to a file outside a session does not trigger a hook; the seal is checked at the next event.',
    ),
  },
  known,
  origin: (payload, { CLAUDE_PROJECT_DIR, PWD }) => ({
    ...claudeSender(payload),
    promptId: textIn(payload, 'prompt_id'),
    cwd: firstAbsolutePath(payload.cwd, CLAUDE_PROJECT_DIR, PWD),
    root: firstAbsolutePath(CLAUDE_PROJECT_DIR),
  }),
  ...claudeHookPayload,
  answer: claudeAnswer,
})

/**
 * Exit code 2 blocks whatever stdout contains, and blocking JSON does so whatever the exit code is: together they still block when one of
 * them gets lost. A crashing hook does not have exit code 2 on any version, so the JSON alone is not enough.
 */
export function claudeAnswer(name: string, { block, context, notice }: HookMessages): HookReply {
  if (block !== null) return blocking(block, { systemMessage: notice, ...blockOutput(name, block) })
  return jsonHookReply({
    systemMessage: notice,
    hookSpecificOutput: context === null ? null : { hookEventName: name, additionalContext: context },
  })
}

function blockOutput(name: string, reason: string): JsonObject {
  if (name !== 'PreToolUse') return { decision: 'block', reason }
  return {
    hookSpecificOutput: { hookEventName: name, permissionDecision: 'deny', permissionDecisionReason: reason },
  }
}
