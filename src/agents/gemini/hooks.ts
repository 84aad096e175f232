import type { HookHappening, ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { isOwnRefusal } from '../../core/refusal-mark.ts'
import { sessionSource } from '../claude-code/hook-payload.ts'
import type { HookCapabilities, HookCodec, HookReply } from '../hook-codec.ts'
import { answering, blocking, type HookMessages } from '../hooks/answer.ts'
import { defineCodec, type KnownEvent } from '../hooks/define-codec.ts'
import {
  claudeEventName,
  isFirstClaudeStop,
  outcomeOf,
  pathAmong,
  resultText,
  textIn,
  workingDirectory,
} from '../hooks/payload.ts'
import { registrations } from '../hooks/registrations.ts'
import { type ToolWord, toolCall } from '../hooks/tool-action.ts'
import { readShellOutput } from './shell-output.ts'

const yes = { kind: 'yes' } as const

const capabilities: HookCapabilities = {
  denyTool: yes,
  injectAtStart: yes,
  injectAfterTool: yes,
  refuseStop: yes,
  refuseSubagentStop: {
    kind: 'no',
    why: 'Gemini CLI has no hooks for subagents; the gate at the end of the turn looks at the same tree.',
  },
  relayCompaction: {
    kind: 'no',
    why: 'Gemini CLI calls no hook when it has compressed a session; the facts about the project are injected at the start of a session only.',
  },
  failureSignal: {
    kind: 'partly',
    why: 'How a command ended is only in the text for the model; where that text does not say it, the run does not count as evidence.',
  },
  failClosed: {
    kind: 'partly',
    why: 'Before a tool a hook that crashes or cannot be started denies the call, but one that runs out of time lets it pass; everywhere else a crash is ignored.',
  },
  vetoConfigChange: {
    kind: 'no',
    why: 'Gemini CLI has no event for it; changes of the guard’s files are denied as file changes, and the seal finds the rest.',
  },
}

/** PreCompress is left out: it comes before every request to the model, whether something is compressed or not. */
const events = registrations([
  { event: 'SessionStart', kind: 'session_start' },
  { event: 'BeforeAgent', kind: 'prompt' },
  { event: 'BeforeTool', kind: 'tool_before', matcher: '*' },
  { event: 'AfterTool', kind: 'tool_after', matcher: '*' },
  { event: 'AfterAgent', kind: 'stop' },
  { event: 'SessionEnd', kind: 'session_end' },
])

const known = new Map<string, KnownEvent>([
  ['SessionStart', { kind: 'session_start', channels: { context: true, notice: true } }],
  ['BeforeAgent', { kind: 'prompt', channels: { block: true, context: true, notice: true } }],
  ['BeforeTool', { kind: 'tool_before', channels: { block: true, notice: true } }],
  ['AfterTool', { kind: 'tool_after', channels: { context: true, notice: true } }],
  ['AfterAgent', { kind: 'stop', channels: { block: true, notice: true } }],
  ['PreCompress', { kind: 'compact_before', channels: { notice: true } }],
  ['SessionEnd', { kind: 'session_end', channels: {} }],
])

const tools = new Map<string, ToolWord>([
  ['run_shell_command', 'bash'],
  ['write_file', 'write'],
  ['replace', 'edit'],
  ['invoke_agent', 'subagent'],
  ...[
    'read_file',
    'read_many_files',
    'list_directory',
    'glob',
    'grep_search',
    'search_file_content',
    'web_fetch',
    'google_web_search',
    'write_todos',
    'ask_user',
    'update_topic',
    'complete_task',
    'enter_plan_mode',
    'exit_plan_mode',
    'activate_skill',
    'get_internal_docs',
  ].map((tool): [string, ToolWord] => [tool, 'read']),
])

/** Gemini CLI names neither calls nor prompts, and there are no subagents in its hooks. */
export const geminiCodec: HookCodec = defineCodec({
  agent: 'gemini',
  capabilities,
  traits: { hidesExitCodes: true },
  events,
  known,
  nameIn: claudeEventName,
  decode(name, payload, { env }) {
    const project = pathAmong(env.GEMINI_PROJECT_DIR, env.CLAUDE_PROJECT_DIR)
    const cwd = workingDirectory('gemini', payload.cwd, project, env.PWD)
    return {
      agent: 'gemini',
      session: textIn(payload, 'session_id') ?? 'unknown',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd,
      root: project ?? cwd,
      ...happening(name, payload),
    }
  },
  answer,
  isFirstStop: isFirstClaudeStop,
})

function happening(name: string, payload: JsonObject): HookHappening {
  switch (name) {
    case 'SessionStart':
      return { kind: 'session_start', source: sessionSource(payload.source) }
    case 'SessionEnd':
      return { kind: 'session_end', reason: textIn(payload, 'reason') }
    case 'BeforeAgent': {
      const text = asString(payload.prompt) ?? ''
      return { kind: 'prompt', text, synthetic: isOwnRefusal(text) }
    }
    case 'BeforeTool':
      return { kind: 'tool_before', call: callOf(payload) }
    case 'AfterTool': {
      const call = callOf(payload)
      return { kind: 'tool_after', call, outcome: geminiOutcome(payload, call) }
    }
    case 'AfterAgent':
      return {
        kind: 'stop',
        again: payload.stop_hook_active === true,
        lastMessage: textIn(payload, 'prompt_response'),
        background: false,
      }
    case 'PreCompress':
      return { kind: 'compact_before', trigger: textIn(payload, 'trigger') }
    default:
      return { kind: 'other', name }
  }
}

function callOf(payload: JsonObject): ToolCall {
  return toolCall(tools, {
    id: null,
    tool: textIn(payload, 'tool_name'),
    input: payload.tool_input,
    server: textIn(asObject(payload.mcp_context) ?? {}, 'server_name'),
  })
}

/**
 * JSON on stdout decides whatever the exit code is; without any, exit code 2 denies with what is on stderr. The reason of a
 * refused stop becomes the next prompt.
 */
function answer(name: string, { block, context, notice }: HookMessages): HookReply {
  if (block !== null) return blocking(block, { decision: 'deny', reason: block, systemMessage: notice })
  return answering({
    systemMessage: notice,
    hookSpecificOutput: context === null ? null : { hookEventName: name, additionalContext: context },
  })
}

/** The text for the model is all there is; `error` is set when the tool itself failed. */
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
