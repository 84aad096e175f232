import type { HookHappening, ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asInteger, asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { isOwnRefusal } from '../../core/refusal-mark.ts'
import { sessionSource } from '../claude-code/hook-payload.ts'
import type { HookCapabilities, HookCodec, HookReply } from '../hook-codec.ts'
import { answering, blocking, type HookMessages } from '../hooks/answer.ts'
import { defineCodec, type KnownEvent } from '../hooks/define-codec.ts'
import { outcomeOf, pathAmong, resultText, textIn, workingDirectory } from '../hooks/payload.ts'
import { type ToolWord, toolCall } from '../hooks/tool-action.ts'

/*
 * opencode has no hooks that are programs: a plugin of ours (`guard-plugin.ts`) starts one per event. Between the two:
 *
 *   stdin   {hook, session, directory, worktree, tool?, callID?, args?, output?, metadata?}
 *   stdout  {deny?, context?, system?} or nothing
 *   exit    0, or 2: the plugin throws, which keeps the tool from running
 *
 * `hook` is the name of opencode's hook, or the type of one of its events, with or without `event:` in front. `output` is
 * the tool's, of `chat.message` the prompt. `system` is added to the system prompt, `context` to the tool's output.
 * The system prompt is asked for once per session and once more after a compaction; `metadata.source` may say which.
 */

const yes = { kind: 'yes' } as const
const noStop =
  'opencode has no hook that could keep a turn from ending; the guard judges the end and records it, and the next session is informed.'

const capabilities: HookCapabilities = {
  denyTool: yes,
  injectAtStart: yes,
  injectAfterTool: yes,
  refuseStop: { kind: 'no', why: noStop },
  refuseSubagentStop: { kind: 'no', why: noStop },
  relayCompaction: {
    kind: 'partly',
    why: 'After a compaction the state is in the system prompt, as that of a resumed session.',
  },
  failureSignal: yes,
  failClosed: {
    kind: 'partly',
    why: 'A tool that was not judged is not run, but opencode started with --pure loads no plugin and so no guard.',
  },
  vetoConfigChange: {
    kind: 'no',
    why: 'opencode has no hook for it; changes of the guard’s files are denied as file changes, and the seal finds the rest.',
  },
}

const events = [
  {
    event: 'experimental.chat.system.transform',
    kind: 'session_start',
    timeoutSeconds: 10,
    mustBlock: false,
  },
  { event: 'chat.message', kind: 'prompt', timeoutSeconds: 10, mustBlock: false },
  { event: 'tool.execute.before', kind: 'tool_before', timeoutSeconds: 10, mustBlock: true },
  { event: 'tool.execute.after', kind: 'tool_after', timeoutSeconds: 10, mustBlock: false },
  { event: 'experimental.session.compacting', kind: 'compact_before', timeoutSeconds: 10, mustBlock: false },
  { event: 'session.idle', kind: 'stop', timeoutSeconds: 600, mustBlock: false },
] as const

const known = new Map<string, KnownEvent>([
  ['session.created', { kind: 'session_start', channels: { context: true } }],
  ['experimental.chat.system.transform', { kind: 'session_start', channels: { context: true } }],
  ['chat.message', { kind: 'prompt', channels: {} }],
  ['tool.execute.before', { kind: 'tool_before', channels: { block: true } }],
  ['tool.execute.after', { kind: 'tool_after', channels: { context: true } }],
  ['experimental.session.compacting', { kind: 'compact_before', channels: { context: true } }],
  ['session.compacted', { kind: 'compact_after', channels: {} }],
  ['session.idle', { kind: 'stop', channels: {} }],
  ['session.error', { kind: 'stop_failed', channels: {} }],
  ['session.deleted', { kind: 'session_end', channels: {} }],
])

const tools = new Map<string, ToolWord>([
  ['bash', 'bash'],
  ['write', 'write'],
  ['edit', 'edit'],
  ['multiedit', 'edit'],
  ['patch', 'patch'],
  ['apply_patch', 'patch'],
  ['task', 'subagent'],
  ...[
    'read',
    'glob',
    'grep',
    'list',
    'webfetch',
    'websearch',
    'codesearch',
    'todowrite',
    'todoread',
    'skill',
  ].map((tool): [string, ToolWord] => [tool, 'read']),
])

export const opencodeCodec: HookCodec = defineCodec({
  agent: 'opencode',
  capabilities,
  events,
  known,
  nameIn: (payload, caller) => (textIn(payload, 'hook') ?? caller.event)?.replace(/^event:/, '') ?? null,
  decode(name, payload, { env }) {
    const cwd = workingDirectory('opencode', payload.directory, payload.worktree, env.PWD)
    // Outside of a repository opencode calls the root of the disk its worktree.
    const worktree = payload.worktree === '/' ? null : pathAmong(payload.worktree)
    return {
      agent: 'opencode',
      session: textIn(payload, 'session') ?? 'unknown',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd,
      root: worktree ?? cwd,
      ...happening(name, payload),
    }
  },
  answer,
  isFirstStop: () => false,
})

function happening(name: string, payload: JsonObject): HookHappening {
  const metadata = asObject(payload.metadata) ?? {}
  switch (name) {
    case 'session.created':
      return { kind: 'session_start', source: 'startup' }
    case 'experimental.chat.system.transform':
      // Whether the session is new, resumed or compacted is not known. Resuming is safe: it forgets nothing, and a new one has no state.
      return { kind: 'session_start', source: sessionSource(metadata.source ?? 'resume') }
    case 'chat.message': {
      const text = asString(payload.output) ?? ''
      return { kind: 'prompt', text, synthetic: isOwnRefusal(text) }
    }
    case 'tool.execute.before':
      return { kind: 'tool_before', call: callOf(payload) }
    case 'tool.execute.after': {
      const call = callOf(payload)
      return { kind: 'tool_after', call, outcome: outcomeIn(payload, metadata, call) }
    }
    case 'experimental.session.compacting':
      return { kind: 'compact_before', trigger: null }
    case 'session.compacted':
      return { kind: 'compact_after', summary: null }
    case 'session.idle':
      return { kind: 'stop', again: false, lastMessage: null, background: false }
    case 'session.error':
      return { kind: 'stop_failed', error: textIn(asObject(metadata.error) ?? {}, 'message', 'name') }
    case 'session.deleted':
      return { kind: 'session_end', reason: 'deleted' }
    default:
      return { kind: 'other', name }
  }
}

function callOf(payload: JsonObject): ToolCall {
  return toolCall(tools, {
    id: textIn(payload, 'callID'),
    tool: textIn(payload, 'tool'),
    input: payload.args,
  })
}

/** A shell that ran into its time or was stopped has no exit code. Other tools come here only when they succeeded. */
function outcomeIn(payload: JsonObject, metadata: JsonObject, { action }: ToolCall): ToolOutcome {
  const output = resultText(payload.output)
  if (action.kind !== 'shell') return outcomeOf({ kind: 'success', output })
  const exitCode = action.background ? null : (asInteger(metadata.exit) ?? null)
  const tail = output.slice(-500)
  return outcomeOf({
    kind: exitCode === null ? 'unknown' : exitCode === 0 ? 'success' : 'failure',
    exitCode,
    output,
    timedOut: exitCode === null && /exceeding timeout|timed out/i.test(tail),
    interrupted: exitCode === null && /abort/i.test(tail),
    background: action.background,
  })
}

function answer(name: string, { block, context }: HookMessages): HookReply {
  if (block !== null) return blocking(block, { deny: block })
  return known.get(name)?.kind === 'session_start' ? answering({ system: context }) : answering({ context })
}
