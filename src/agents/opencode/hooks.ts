import type { ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asInteger, asObject, type JsonObject } from '../../core/json-fields.ts'
import type { HookCodec, HookReply } from '../hook-codec.ts'
import { blocking, type HookMessages, jsonHookReply } from '../hooks/answer.ts'
import { defineCodec, impossible, type KnownEvent, noVeto, partly } from '../hooks/define-codec.ts'
import { promptDetail, sessionSource } from '../hooks/event-detail.ts'
import { firstAbsolutePath, outcomeOf, resultText, textIn } from '../hooks/payload.ts'
import { toolCall, toolPurposes } from '../hooks/tool-action.ts'

/*
 * opencode has no hooks that are programs: our plugin (`guard-plugin.js`) starts one per event. The protocol between
 * them:
 *
 *   stdin   {hook, session, directory, worktree, tool?, callID?, args?, output?, metadata?}
 *   stdout  {deny?, context?, system?} or nothing
 *   exit    0, or 2: the plugin throws, which keeps the tool from running
 *
 * `hook` is the name of opencode's hook, or the type of one of its events, with or without the prefix `event:`.
 * `output` is that of the tool, or the prompt of `chat.message`. `system` is added to the system prompt, `context` to
 * the tool's output. The system prompt is requested once per session and once more after a compaction;
 * `metadata.source` may say which.
 */

const noStop = impossible(
  'opencode has no hook that could keep a turn from ending; the guard judges the end and records it, and the next session is informed.',
)

const known = new Map<string, KnownEvent>([
  ['session.created', { kind: 'session_start', context: true, isRegistered: false }],
  ['experimental.chat.system.transform', { kind: 'session_start', context: true }],
  ['chat.message', { kind: 'prompt' }],
  ['tool.execute.before', { kind: 'tool_before', block: true }],
  ['tool.execute.after', { kind: 'tool_after', context: true }],
  ['experimental.session.compacting', { kind: 'compact_before', context: true }],
  ['session.compacted', { kind: 'compact_after', isRegistered: false }],
  ['session.idle', { kind: 'stop' }],
  ['session.error', { kind: 'stop_failed', isRegistered: false }],
  ['session.deleted', { kind: 'session_end', isRegistered: false }],
])

const tools = toolPurposes({
  bash: 'bash',
  write: 'write',
  edit: 'edit multiedit',
  patch: 'patch apply_patch',
  subagent: 'task',
  read: 'read glob grep list webfetch websearch codesearch todowrite todoread skill',
})

export const opencodeCodec: HookCodec = defineCodec({
  agent: 'opencode',
  limits: {
    refuseStop: noStop,
    refuseSubagentStop: noStop,
    relayCompaction: partly(
      'After a compaction the state is in the system prompt, as that of a resumed session.',
    ),
    failClosed: partly(
      'A tool that was not judged is not run, but opencode started with --pure loads no plugin and so no guard.',
    ),
    vetoConfigChange: noVeto('opencode has no hook'),
  },
  known,
  nameIn: (payload, caller) => (textIn(payload, 'hook') ?? caller.event)?.replace(/^event:/, '') ?? null,
  origin: ({ directory, worktree, ...payload }, { PWD }) => ({
    session: textIn(payload, 'session') ?? 'unknown',
    cwd: firstAbsolutePath(directory, worktree, PWD),
    // Outside a repository opencode uses the root of the disk as its worktree.
    root: worktree === '/' ? null : firstAbsolutePath(worktree),
  }),
  call: callOf,
  outcome: outcomeIn,
  stop: () => ({ again: false, lastMessage: null, background: false }),
  own: {
    // For a system prompt it is unknown whether the session is new, resumed or compacted. Resuming is safe: it drops nothing, and a new
    // session has no state.
    session_start: (payload, name) => ({
      kind: 'session_start',
      source: name === 'session.created' ? 'startup' : sessionSource(metadataOf(payload).source ?? 'resume'),
    }),
    prompt: (payload) => promptDetail(payload.output),
    stop_failed: (payload) => ({
      kind: 'stop_failed',
      error: textIn(asObject(metadataOf(payload).error) ?? {}, 'message', 'name'),
    }),
    session_end: () => ({ kind: 'session_end', reason: 'deleted' }),
  },
  answer,
  isFirstStop: () => false,
})

function metadataOf(payload: JsonObject): JsonObject {
  return asObject(payload.metadata) ?? {}
}

function callOf(payload: JsonObject): ToolCall {
  return toolCall(tools, {
    id: textIn(payload, 'callID'),
    tool: textIn(payload, 'tool'),
    input: payload.args,
  })
}

/** A shell that timed out or was stopped has no exit code. Other tools are reported only when they succeeded. */
function outcomeIn(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const output = resultText(payload.output)
  if (action.kind !== 'shell') return outcomeOf({ kind: 'success', output })
  const exitCode = action.background ? null : (asInteger(metadataOf(payload).exit) ?? null)
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
  return known.get(name)?.kind === 'session_start'
    ? jsonHookReply({ system: context })
    : jsonHookReply({ context })
}
