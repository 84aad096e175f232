import type { JsonObject } from '../../core/json-fields.ts'
import type { HookCapabilities, HookCodec, HookReply } from '../hook-codec.ts'
import { answering, blocking, type HookMessages } from '../hooks/answer.ts'
import { defineCodec, type KnownEvent } from '../hooks/define-codec.ts'
import {
  claudeEventName,
  claudeSender,
  isFirstClaudeStop,
  pathAmong,
  textIn,
  workingDirectory,
} from '../hooks/payload.ts'
import { registrations } from '../hooks/registrations.ts'
import { claudeHappening } from './hook-payload.ts'

const yes = { kind: 'yes' } as const

const capabilities: HookCapabilities = {
  denyTool: yes,
  injectAtStart: yes,
  injectAfterTool: yes,
  refuseStop: {
    kind: 'partly',
    why: 'Claude Code ends a turn after 8 refusals in a row, whatever a hook says; the guard gives up before that and writes the end down as CAPPED.',
  },
  refuseSubagentStop: {
    kind: 'partly',
    why: 'A subagent in the background may end without its hook; the gate at the end of the main turn looks at the same tree.',
  },
  relayCompaction: yes,
  failureSignal: yes,
  failClosed: {
    kind: 'partly',
    why: 'Before 2.1.295 a hook that cannot be started or runs out of time lets the call pass; from then on it blocks before a tool, and nowhere else.',
  },
  vetoConfigChange: {
    kind: 'partly',
    why: 'Managed settings cannot be vetoed, and a file that was changed outside of a session is not noticed by a hook; the seal is checked at the next event.',
  },
}

/** All of them exist on 2.1.197, which rejects a whole file for one unknown event. */
const events = registrations([
  { event: 'SessionStart', kind: 'session_start', matcher: '*' },
  { event: 'UserPromptSubmit', kind: 'prompt' },
  { event: 'PreToolUse', kind: 'tool_before', matcher: '*' },
  { event: 'PostToolUse', kind: 'tool_after', matcher: '*' },
  { event: 'PostToolUseFailure', kind: 'tool_after', matcher: '*' },
  { event: 'PermissionDenied', kind: 'tool_denied', matcher: '*' },
  // The gate may run the tests itself.
  { event: 'Stop', kind: 'stop' },
  { event: 'SubagentStart', kind: 'subagent_start', matcher: '*' },
  { event: 'SubagentStop', kind: 'subagent_stop', matcher: '*' },
  { event: 'StopFailure', kind: 'stop_failed', matcher: '*' },
  { event: 'PreCompact', kind: 'compact_before', matcher: '*' },
  { event: 'PostCompact', kind: 'compact_after', matcher: '*' },
  { event: 'ConfigChange', kind: 'config_change', matcher: '*' },
  // Plugins have 1.5 seconds in all, whatever stands here.
  { event: 'SessionEnd', kind: 'session_end', matcher: '*' },
])

/**
 * `context` only where the event is a member of the union of `hookSpecificOutput` and the text reaches the model: any other
 * event rejects the whole answer. Context at a stop would make the turn go on, so that it is none here.
 */
const known = new Map<string, KnownEvent>([
  ['SessionStart', { kind: 'session_start', channels: { context: true, notice: true } }],
  ['UserPromptSubmit', { kind: 'prompt', channels: { block: true, context: true, notice: true } }],
  ['PreToolUse', { kind: 'tool_before', channels: { block: true, context: true, notice: true } }],
  ['PostToolUse', { kind: 'tool_after', channels: { context: true, notice: true } }],
  ['PostToolUseFailure', { kind: 'tool_after', channels: { context: true, notice: true } }],
  ['PermissionDenied', { kind: 'tool_denied', channels: { notice: true } }],
  ['Stop', { kind: 'stop', channels: { block: true, notice: true } }],
  ['SubagentStart', { kind: 'subagent_start', channels: { context: true, notice: true } }],
  ['SubagentStop', { kind: 'subagent_stop', channels: { block: true, notice: true } }],
  ['StopFailure', { kind: 'stop_failed', channels: {} }],
  // What is printed here, even JSON, is pasted into the orders for the summary.
  ['PreCompact', { kind: 'compact_before', channels: { block: true } }],
  ['PostCompact', { kind: 'compact_after', channels: {} }],
  ['ConfigChange', { kind: 'config_change', channels: { block: true } }],
  ['SessionEnd', { kind: 'session_end', channels: {} }],
])

export const claudeCodeCodec: HookCodec = defineCodec({
  agent: 'claude-code',
  capabilities,
  events,
  known,
  nameIn: claudeEventName,
  decode(name, payload, { env }) {
    const cwd = workingDirectory('claude-code', payload.cwd, env.CLAUDE_PROJECT_DIR, env.PWD)
    return {
      agent: 'claude-code',
      ...claudeSender(payload),
      promptId: textIn(payload, 'prompt_id'),
      cwd,
      root: pathAmong(env.CLAUDE_PROJECT_DIR) ?? cwd,
      ...claudeHappening(name, payload),
    }
  },
  answer: claudeAnswer,
  isFirstStop: isFirstClaudeStop,
})

/**
 * Exit code 2 blocks whatever stdout says, and JSON that blocks does so whatever the exit code is: both together hold when
 * one of them gets lost. A hook that dies in between has exit code 2 on no version, so that nothing else may be the block.
 */
export function claudeAnswer(name: string, { block, context, notice }: HookMessages): HookReply {
  if (block !== null) return blocking(block, { systemMessage: notice, ...blockOutput(name, block) })
  return answering({
    systemMessage: notice,
    hookSpecificOutput: context === null ? null : { hookEventName: name, additionalContext: context },
  })
}

function blockOutput(name: string, reason: string): JsonObject {
  if (name !== 'PreToolUse') return { decision: 'block', reason }
  return {
    hookSpecificOutput: {
      hookEventName: name,
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }
}
