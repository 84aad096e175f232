import type { HookEvent } from '../../core/hook-event.ts'
import type { HookCapabilities, HookCodec } from '../hook-codec.ts'
import { defineCodec, type KnownEvent } from '../hooks/define-codec.ts'
import { pathAmong, textIn, workingDirectory } from '../hooks/payload.ts'
import { asString } from '../json-fields.ts'
import { claudeAnswer } from './hook-answer.ts'
import { claudeHappening } from './hook-happening.ts'

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
const events = [
  { event: 'SessionStart', kind: 'session_start', matcher: '*', timeoutSeconds: 10, mustBlock: false },
  { event: 'UserPromptSubmit', kind: 'prompt', timeoutSeconds: 10, mustBlock: false },
  { event: 'PreToolUse', kind: 'tool_before', matcher: '*', timeoutSeconds: 10, mustBlock: true },
  { event: 'PostToolUse', kind: 'tool_after', matcher: '*', timeoutSeconds: 10, mustBlock: false },
  { event: 'PostToolUseFailure', kind: 'tool_after', matcher: '*', timeoutSeconds: 10, mustBlock: false },
  { event: 'PermissionDenied', kind: 'tool_denied', matcher: '*', timeoutSeconds: 10, mustBlock: false },
  // The gate may run the tests itself.
  { event: 'Stop', kind: 'stop', timeoutSeconds: 600, mustBlock: true },
  { event: 'SubagentStart', kind: 'subagent_start', matcher: '*', timeoutSeconds: 10, mustBlock: false },
  { event: 'SubagentStop', kind: 'subagent_stop', matcher: '*', timeoutSeconds: 600, mustBlock: true },
  { event: 'StopFailure', kind: 'stop_failed', matcher: '*', timeoutSeconds: 5, mustBlock: false },
  { event: 'PreCompact', kind: 'compact_before', matcher: '*', timeoutSeconds: 10, mustBlock: false },
  { event: 'PostCompact', kind: 'compact_after', matcher: '*', timeoutSeconds: 10, mustBlock: false },
  { event: 'ConfigChange', kind: 'config_change', matcher: '*', timeoutSeconds: 10, mustBlock: true },
  // Plugins have 1.5 seconds in all, whatever stands here.
  { event: 'SessionEnd', kind: 'session_end', matcher: '*', timeoutSeconds: 5, mustBlock: false },
] as const

/**
 * `context` only where the event is a member of the union of `hookSpecificOutput` and the text reaches the model: any other
 * event rejects the whole answer. Context at a stop would make the turn go on, so that it is none here.
 */
const known = new Map<string, KnownEvent>([
  ['SessionStart', { kind: 'session_start', powers: { context: true, notice: true } }],
  ['UserPromptSubmit', { kind: 'prompt', powers: { block: true, context: true, notice: true } }],
  ['PreToolUse', { kind: 'tool_before', powers: { block: true, context: true, notice: true } }],
  ['PostToolUse', { kind: 'tool_after', powers: { context: true, notice: true } }],
  ['PostToolUseFailure', { kind: 'tool_after', powers: { context: true, notice: true } }],
  ['PermissionDenied', { kind: 'tool_denied', powers: { notice: true } }],
  ['Stop', { kind: 'stop', powers: { block: true, notice: true } }],
  ['SubagentStart', { kind: 'subagent_start', powers: { context: true, notice: true } }],
  ['SubagentStop', { kind: 'subagent_stop', powers: { block: true, notice: true } }],
  ['StopFailure', { kind: 'stop_failed', powers: {} }],
  // What is printed here, even JSON, is pasted into the orders for the summary.
  ['PreCompact', { kind: 'compact_before', powers: { block: true } }],
  ['PostCompact', { kind: 'compact_after', powers: {} }],
  ['ConfigChange', { kind: 'config_change', powers: { block: true } }],
  ['SessionEnd', { kind: 'session_end', powers: {} }],
])

const nameOfKind = new Map([...known].map(([name, { kind }]) => [kind, name]))

export const claudeCodeCodec: HookCodec = defineCodec({
  agent: 'claude-code',
  capabilities,
  events,
  known,
  nameIn: (payload, caller) => textIn(payload, 'hook_event_name') ?? caller.event,
  decode(name, payload, { env }) {
    const cwd = workingDirectory('claude-code', payload.cwd, env.CLAUDE_PROJECT_DIR, env.PWD)
    return {
      agent: 'claude-code',
      session: textIn(payload, 'session_id') ?? 'unknown',
      agentId: textIn(payload, 'agent_id'),
      // Empty is said on purpose: it is the summariser of a compaction.
      agentType: asString(payload.agent_type) ?? null,
      promptId: textIn(payload, 'prompt_id'),
      cwd,
      root: pathAmong(env.CLAUDE_PROJECT_DIR) ?? cwd,
      ...claudeHappening(name, payload),
    }
  },
  nameOf,
  answer: claudeAnswer,
  isFirstStop: ({ stop_hook_active }) => stop_hook_active === false,
})

function nameOf(event: HookEvent): string | null {
  if (event.kind === 'tool_after')
    return event.outcome.kind === 'failure' ? 'PostToolUseFailure' : 'PostToolUse'
  return nameOfKind.get(event.kind) ?? null
}
