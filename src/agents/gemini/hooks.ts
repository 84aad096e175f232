import type { ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import type { HookCodec, HookReply } from '../hook-codec.ts'
import { blocking, type HookMessages, jsonHookReply } from '../hooks/answer.ts'
import { defineCodec, impossible, type KnownEvent, noVeto, partly } from '../hooks/define-codec.ts'
import { firstAbsolutePath, outcomeOf, resultText, textIn } from '../hooks/payload.ts'
import { toolCall, toolPurposes } from '../hooks/tool-action.ts'
import { readShellOutput } from './shell-output.ts'

const known = new Map<string, KnownEvent>([
  ['SessionStart', { kind: 'session_start', context: true, notice: true }],
  ['BeforeAgent', { kind: 'prompt', block: true, context: true, notice: true }],
  ['BeforeTool', { kind: 'tool_before', block: true, notice: true, matcher: '*' }],
  ['AfterTool', { kind: 'tool_after', context: true, notice: true, matcher: '*' }],
  ['AfterAgent', { kind: 'stop', block: true, notice: true }],
  // It comes before every request to the model, whether something is compressed or not.
  ['PreCompress', { kind: 'compact_before', notice: true, isRegistered: false }],
  ['SessionEnd', { kind: 'session_end' }],
])

const tools = toolPurposes({
  bash: 'run_shell_command',
  write: 'write_file',
  edit: 'replace',
  subagent: 'invoke_agent',
  read:
    'read_file read_many_files list_directory glob grep_search search_file_content web_fetch ' +
    'google_web_search write_todos ask_user update_topic complete_task enter_plan_mode ' +
    'exit_plan_mode activate_skill get_internal_docs',
})

/** Gemini CLI gives neither calls nor prompts an id, and its hooks do not cover subagents. */
export const geminiCodec: HookCodec = defineCodec({
  agent: 'gemini',
  limits: {
    refuseSubagentStop: impossible(
      'Gemini CLI has no hooks for subagents; the gate at the end of the turn checks the same tree.',
    ),
    relayCompaction: impossible(
      'Gemini CLI calls no hook when it has compressed a session; the facts about the project are injected at the start of a session only.',
    ),
    failureSignal: partly(
      'How a command ended is only in the text for the model; where that text does not say it, the run does not count as evidence.',
    ),
    failClosed: partly(
      'Before a tool a hook that crashes or cannot be started denies the call, but one that times out lets it pass; everywhere else a crash is ignored.',
    ),
    vetoConfigChange: noVeto('Gemini CLI has no event'),
  },
  traits: { hidesExitCodes: true },
  known,
  origin(payload, { GEMINI_PROJECT_DIR, CLAUDE_PROJECT_DIR, PWD }) {
    const root = firstAbsolutePath(GEMINI_PROJECT_DIR, CLAUDE_PROJECT_DIR)
    const session = textIn(payload, 'session_id') ?? 'unknown'
    return { session, cwd: firstAbsolutePath(payload.cwd, root, PWD), root }
  },
  call: callOf,
  outcome: geminiOutcome,
  stop: (payload) => ({
    again: payload.stop_hook_active === true,
    lastMessage: textIn(payload, 'prompt_response'),
    background: false,
  }),
  answer,
})

function callOf(payload: JsonObject): ToolCall {
  return toolCall(tools, {
    id: null,
    tool: textIn(payload, 'tool_name'),
    input: payload.tool_input,
    server: textIn(asObject(payload.mcp_context) ?? {}, 'server_name'),
  })
}

/**
 * JSON on stdout decides whatever the exit code is; without it, exit code 2 denies with the text on stderr. The reason
 * of a refused stop becomes the next prompt.
 */
function answer(name: string, { block, context, notice }: HookMessages): HookReply {
  if (block !== null) return blocking(block, { decision: 'deny', reason: block, systemMessage: notice })
  return jsonHookReply({
    systemMessage: notice,
    hookSpecificOutput: context === null ? null : { hookEventName: name, additionalContext: context },
  })
}

/** Only the text for the model is available; `error` is set when the tool itself failed. */
function geminiOutcome(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const response = asObject(payload.tool_response) ?? {}
  const text = resultText(response.llmContent)
  const failed = response.error !== undefined && response.error !== null
  if (action.kind === 'shell') return shellOutcome(unwrapped(text), action.background, failed)
  return outcomeOf({ kind: failed ? 'failure' : 'success', output: text })
}

function shellOutcome(text: string, askedForBackground: boolean, failed: boolean): ToolOutcome {
  const background = askedForBackground || /^Command (?:moved to|is running in) background\b/.test(text)
  const timedOut = text.startsWith('Command was automatically cancelled because it exceeded the timeout')
  const interrupted = text.startsWith('Command was cancelled by user')
  if (background || timedOut || interrupted)
    return outcomeOf({ output: text, background, timedOut, interrupted })
  const { output, exitCode } = readShellOutput(text)
  const kind = failed || (exitCode ?? 0) !== 0 ? 'failure' : exitCode === 0 ? 'success' : 'unknown'
  return outcomeOf({ kind, exitCode: failed && exitCode === 0 ? null : (exitCode ?? null), output })
}

function unwrapped(text: string): string {
  return /^<untrusted_context>\n([\s\S]*)\n<\/untrusted_context>$/.exec(text)?.[1] ?? text
}
