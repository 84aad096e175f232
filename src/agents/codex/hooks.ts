import type { HookHappening, ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { claudeHappening } from '../claude-code/hook-payload.ts'
import type { HookCapabilities, HookCodec, HookReply } from '../hook-codec.ts'
import { answering, blocking, type HookMessages } from '../hooks/answer.ts'
import { defineCodec, type KnownEvent } from '../hooks/define-codec.ts'
import {
  claudeEventName,
  claudeSender,
  exitCodeFrom,
  isFirstClaudeStop,
  outcomeOf,
  resultText,
  textIn,
  workingDirectory,
} from '../hooks/payload.ts'
import { registrations } from '../hooks/registrations.ts'
import { type ToolWord, toolCall } from '../hooks/tool-action.ts'

const yes = { kind: 'yes' } as const

const capabilities: HookCapabilities = {
  denyTool: {
    kind: 'partly',
    why: 'Text sent into a running command (write_stdin) and web searches pass no hook; a shell or interpreter that would wait for such text is denied, and what is changed is seen in the tree at the end of the turn.',
  },
  injectAtStart: yes,
  injectAfterTool: yes,
  refuseStop: yes,
  refuseSubagentStop: yes,
  relayCompaction: yes,
  failureSignal: {
    kind: 'no',
    why: 'Codex does not report to a hook how a command ended, so no run of the agent counts as evidence; only `gantry guard verify` and runs of the gate itself do.',
  },
  failClosed: {
    kind: 'partly',
    why: 'Before a tool a hook that crashes or cannot be started denies the call, but one that runs out of time, or that no person has trusted, lets it pass; everywhere else a failing hook is ignored.',
  },
  vetoConfigChange: {
    kind: 'no',
    why: 'Codex has no event for it; changes of the guard’s files are denied as file changes, and the seal finds the rest.',
  },
}

const events = registrations([
  { event: 'SessionStart', kind: 'session_start' },
  { event: 'UserPromptSubmit', kind: 'prompt' },
  { event: 'PreToolUse', kind: 'tool_before', matcher: '*' },
  { event: 'PostToolUse', kind: 'tool_after', matcher: '*' },
  { event: 'PreCompact', kind: 'compact_before' },
  { event: 'SubagentStart', kind: 'subagent_start' },
  { event: 'SubagentStop', kind: 'subagent_stop' },
  { event: 'Stop', kind: 'stop' },
  // Codex gives it one second.
  { event: 'SessionEnd', kind: 'session_end', timeoutSeconds: 1 },
])

const known = new Map<string, KnownEvent>([
  ['SessionStart', { kind: 'session_start', channels: { context: true, notice: true } }],
  ['UserPromptSubmit', { kind: 'prompt', channels: { block: true, context: true, notice: true } }],
  ['PreToolUse', { kind: 'tool_before', channels: { block: true, notice: true } }],
  ['PostToolUse', { kind: 'tool_after', channels: { context: true, notice: true } }],
  ['PreCompact', { kind: 'compact_before', channels: { notice: true } }],
  ['PostCompact', { kind: 'compact_after', channels: { notice: true } }],
  ['SubagentStart', { kind: 'subagent_start', channels: { context: true, notice: true } }],
  ['SubagentStop', { kind: 'subagent_stop', channels: { block: true, notice: true } }],
  ['Stop', { kind: 'stop', channels: { block: true, notice: true } }],
  ['SessionEnd', { kind: 'session_end', channels: {} }],
])

const tools = new Map<string, ToolWord>([
  ['Bash', 'bash'],
  ['exec_command', 'bash'],
  ['shell', 'bash'],
  ['apply_patch', 'patch'],
  ['Agent', 'subagent'],
  ['spawn_agent', 'subagent'],
  ...['update_plan', 'view_image', 'wait_agent', 'multi_agent_v1wait_agent', 'list_agents'].map(
    (tool): [string, ToolWord] => [tool, 'read'],
  ),
])

/** The shape of payloads is Claude Code's; one turn is `turn_id`, also when a refused stop makes it go on. */
export const codexCodec: HookCodec = defineCodec({
  agent: 'codex',
  capabilities,
  traits: { typesUnseen: true, hidesExitCodes: true },
  events,
  known,
  nameIn: claudeEventName,
  decode(name, payload, { env }) {
    const cwd = workingDirectory('codex', payload.cwd, env.PWD)
    return {
      agent: 'codex',
      ...claudeSender(payload),
      promptId: textIn(payload, 'turn_id'),
      cwd,
      root: cwd,
      ...happening(name, payload),
    }
  },
  answer,
  isFirstStop: isFirstClaudeStop,
})

function happening(name: string, payload: JsonObject): HookHappening {
  if (!known.has(name)) return { kind: 'other', name }
  if (name !== 'PreToolUse' && name !== 'PostToolUse') return claudeHappening(name, payload)
  const call = toolCall(tools, {
    id: textIn(payload, 'tool_use_id'),
    tool: textIn(payload, 'tool_name'),
    input: payload.tool_input,
  })
  if (name === 'PreToolUse') return { kind: 'tool_before', call }
  return { kind: 'tool_after', call, outcome: codexOutcome(payload, call) }
}

/**
 * With exit code 2 Codex reads stderr alone. On stdout it takes a known field only: any other, and also `allow` or `ask`,
 * makes it drop the answer and let the call pass.
 */
function answer(name: string, { block, context, notice }: HookMessages): HookReply {
  if (block !== null) return blocking(block)
  return answering({
    systemMessage: notice,
    hookSpecificOutput: context === null ? null : { hookEventName: name, additionalContext: context },
  })
}

/**
 * Codex sends a hook what a command printed and not how it ended: the outcome stays `unknown`, whatever the text looks like. A patch
 * is applied by Codex itself and begins with its own line about the exit code.
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
