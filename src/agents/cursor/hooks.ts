import { asArray } from '../../core/json-fields.ts'
import { claudeAnswer } from '../claude-code/hooks.ts'
import type { HookCapabilities, HookCodec, HookReply } from '../hook-codec.ts'
import { answering, blocking, type HookMessages, silent } from '../hooks/answer.ts'
import { defineCodec, type KnownEvent } from '../hooks/define-codec.ts'
import { pathAmong, textIn, workingDirectory } from '../hooks/payload.ts'
import { smallLetterRegistrations } from '../hooks/registrations.ts'
import { cursorHappening } from './hook-payload.ts'

/** Of all capabilities it holds that they stand in Cursor's documentation and were not tried in a real Cursor. */
const yes = { kind: 'yes' } as const

const capabilities: HookCapabilities = {
  denyTool: yes,
  injectAtStart: yes,
  injectAfterTool: yes,
  refuseStop: {
    kind: 'partly',
    why: 'A stop is answered with a message that Cursor sends on as the next prompt; agents in the cloud run no such hook, and there the guard only records.',
  },
  refuseSubagentStop: {
    kind: 'partly',
    why: 'A subagent’s stop is answered with a message for it; agents in the cloud run no such hook, and the gate at the end of the main turn looks at the same tree.',
  },
  relayCompaction: {
    kind: 'partly',
    why: 'Cursor starts no session anew after a compaction; the guard saves the state and injects it at the start of the next session only.',
  },
  failureSignal: {
    kind: 'partly',
    why: 'How a command ended is in the result of the tool, if at all; a run without an exit code does not count as evidence.',
  },
  failClosed: {
    kind: 'partly',
    why: 'A failing hook blocks only where `failClosed` is set, which the guard does before tools and at stops.',
  },
  vetoConfigChange: {
    kind: 'no',
    why: 'Cursor has no event for it; changes of the guard’s files are denied as file changes, and the seal finds the rest.',
  },
}

/** The events of single tools are left out: preToolUse and postToolUse come for all of them, and nothing is to count twice. */
const events = smallLetterRegistrations({ prompt: 'beforeSubmitPrompt', stop: 'stop' })

const known = new Map<string, KnownEvent>([
  ['beforeShellExecution', { kind: 'tool_before', channels: { block: true } }],
  ['beforeMCPExecution', { kind: 'tool_before', channels: { block: true } }],
  ['beforeReadFile', { kind: 'tool_before', channels: { block: true } }],
  ['preToolUse', { kind: 'tool_before', channels: { block: true } }],
  ['afterShellExecution', { kind: 'tool_after', channels: {} }],
  ['afterMCPExecution', { kind: 'tool_after', channels: {} }],
  ['afterFileEdit', { kind: 'tool_after', channels: {} }],
  ['postToolUseFailure', { kind: 'tool_after', channels: {} }],
  ['postToolUse', { kind: 'tool_after', channels: { context: true } }],
  ['sessionStart', { kind: 'session_start', channels: { context: true } }],
  ['beforeSubmitPrompt', { kind: 'prompt', channels: { block: true } }],
  ['stop', { kind: 'stop', channels: { block: true } }],
  ['subagentStart', { kind: 'subagent_start', channels: {} }],
  ['subagentStop', { kind: 'subagent_stop', channels: { block: true } }],
  ['preCompact', { kind: 'compact_before', channels: { notice: true } }],
  ['sessionEnd', { kind: 'session_end', channels: {} }],
])

/** Those of a hook for Claude Code, as Cursor may name them. */
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
 * Without an opinion it answers with an object that says nothing: an empty answer is none that Cursor could read, and with
 * `failClosed` it would block everything.
 */
const noOpinion: HookReply = { stdout: '{}', stderr: '', exitCode: 0 }

export const cursorCodec: HookCodec = codec(answer, noOpinion)

/** For a hook that was installed for Claude Code and that Cursor runs as well: it expects Claude Code's words. */
export const cursorAsClaudeCodec: HookCodec = codec((name, said) => {
  const claudeName = claudeNames.get(name)
  return claudeName === undefined ? silent : claudeAnswer(claudeName, said)
}, silent)

function codec(answerEvent: (name: string, said: HookMessages) => HookReply, nothing: HookReply): HookCodec {
  return defineCodec({
    noOpinion: nothing,
    agent: 'cursor',
    capabilities,
    traits: { hidesExitCodes: true },
    events,
    known,
    nameIn(payload, caller) {
      const name = textIn(payload, 'hook_event_name') ?? caller.event
      return name === null ? null : (ownNames.get(name) ?? name)
    },
    decode(name, payload, { env }) {
      const roots = asArray(payload.workspace_roots)
      const project = pathAmong(env.CURSOR_PROJECT_DIR, ...roots, env.CLAUDE_PROJECT_DIR)
      const cwd = workingDirectory('cursor', payload.cwd, project, env.PWD)
      return {
        agent: 'cursor',
        session: textIn(payload, 'conversation_id', 'session_id') ?? 'unknown',
        agentId: textIn(payload, 'subagent_id', 'agent_id'),
        agentType: textIn(payload, 'subagent_type', 'agent_type'),
        // `generation_id` changes with the message that refuses a stop, so that it names no prompt of a person.
        promptId: null,
        cwd,
        root: project ?? cwd,
        ...cursorHappening(name, payload),
      }
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
      ? answering({ continue: true })
      : blocking(block, { continue: false, user_message: block })
  if (block === null)
    return { ...noOpinion, ...spoken(answering({ additional_context: context, user_message: notice })) }
  if (kind === 'stop' || kind === 'subagent_stop') return answering({ followup_message: block })
  return blocking(block, { permission: 'deny', user_message: block, agent_message: block })
}

function spoken(reply: HookReply): Partial<HookReply> {
  return reply.stdout === '' ? {} : reply
}
