import type { HookCapabilities, HookCodec, HookReply } from '../hook-codec.ts'
import { answering, blocking, type HookMessages } from '../hooks/answer.ts'
import { defineCodec, type KnownEvent } from '../hooks/define-codec.ts'
import { pathAmong, textIn, workingDirectory } from '../hooks/payload.ts'
import { smallLetterRegistrations } from '../hooks/registrations.ts'
import { copilotEventName, copilotHappening, copilotSession } from './hook-payload.ts'

const yes = { kind: 'yes' } as const

const capabilities: HookCapabilities = {
  denyTool: yes,
  injectAtStart: yes,
  injectAfterTool: yes,
  refuseStop: {
    kind: 'partly',
    why: 'Copilot ends a turn after 8 refusals in a row, whatever a hook says; the guard gives up before that and writes the end down as CAPPED.',
  },
  refuseSubagentStop: yes,
  relayCompaction: {
    kind: 'partly',
    why: 'Copilot starts no session anew after a compaction; the guard saves the state and injects it at the start of the next session only.',
  },
  failureSignal: {
    kind: 'partly',
    why: 'The exit code is in the last line of the text for the model; a command without that line does not count as evidence.',
  },
  failClosed: {
    kind: 'partly',
    why: 'Before a tool a hook that crashes denies the call, but one that runs out of time lets it pass; everywhere else a failing hook is ignored.',
  },
  vetoConfigChange: {
    kind: 'no',
    why: 'Copilot has no event for it; changes of the guard’s files are denied as file changes, and the seal finds the rest.',
  },
}

const events = smallLetterRegistrations({ prompt: 'userPromptSubmitted', stop: 'agentStop' })

/** Copilot shows a person nothing of what a hook says. */
const known = new Map<string, KnownEvent>([
  ['sessionStart', { kind: 'session_start', channels: { context: true } }],
  ['userPromptSubmitted', { kind: 'prompt', channels: { block: true, context: true } }],
  ['preToolUse', { kind: 'tool_before', channels: { block: true, context: true } }],
  ['postToolUse', { kind: 'tool_after', channels: { context: true } }],
  ['postToolUseFailure', { kind: 'tool_after', channels: { context: true } }],
  ['agentStop', { kind: 'stop', channels: { block: true } }],
  ['subagentStart', { kind: 'subagent_start', channels: { context: true } }],
  ['subagentStop', { kind: 'subagent_stop', channels: { block: true } }],
  ['preCompact', { kind: 'compact_before', channels: {} }],
  ['sessionEnd', { kind: 'session_end', channels: {} }],
  ['errorOccurred', { kind: 'stop_failed', channels: {} }],
])

/**
 * Answers in Copilot's own format whichever format the payload has: of a hook that was installed for Claude Code it takes them
 * as well, while it overlooks most of what stands in Claude Code's `hookSpecificOutput`.
 */
export const copilotCodec: HookCodec = defineCodec({
  agent: 'copilot',
  capabilities,
  traits: { keepsShell: true },
  events,
  known,
  nameIn: (payload, caller) => copilotEventName(payload, caller.event),
  decode(name, payload, { env }) {
    const project = pathAmong(env.COPILOT_PROJECT_DIR, env.CLAUDE_PROJECT_DIR)
    const cwd = workingDirectory('copilot', payload.cwd, payload.workingDirectory, project, env.PWD)
    return {
      agent: 'copilot',
      session: copilotSession(payload),
      agentId: textIn(payload, 'agentId', 'agent_id'),
      agentType: textIn(payload, 'agentType', 'agent_type', 'agentName', 'agent_name'),
      promptId: null,
      cwd,
      root: project ?? cwd,
      ...copilotHappening(name, payload),
    }
  },
  answer,
  isFirstStop: ({ stop_hook_active, stopHookActive }) => (stop_hook_active ?? stopHookActive) === false,
})

/** Exit code 2 denies a tool call from 1.0.70 on, the JSON also before; a stop is refused by JSON alone. */
function answer(name: string, { block, context }: HookMessages): HookReply {
  if (block === null) return answering({ additionalContext: context })
  if (name !== 'preToolUse') return answering({ decision: 'block', reason: block })
  return blocking(block, { permissionDecision: 'deny', permissionDecisionReason: block })
}
