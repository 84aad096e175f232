import type { SeenHook } from '../../../agents/contract.ts'
import type { AgentEvent, HookRunEvent, ToolResultEvent, Untimed } from '../../../core/event.ts'
import { defined } from '../../../core/json-fields.ts'
import type {
  ExpansionCapture,
  HookResponse,
  SessionTiming,
  SubagentCapture,
  ToolCapture,
} from '../contract.ts'

export type CaptureSheet = ReturnType<typeof newSheet>

/** The complete capture state of one scenario. Every scenario and every attempt starts with a new sheet. */
export function newSheet() {
  return {
    tools: new Map<string, ToolCapture>(),
    subagents: new Map<string, SubagentCapture>(),
    expansions: [] as ExpansionCapture[],
    hookResponses: [] as HookResponse[],
    starts: [] as SessionTiming['starts'][number][],
    /** Sessions of the agent that belong to this scenario. */
    sessions: new Set<string>(),
    end: undefined as SessionTiming['end'],
    stopSeen: false,
  }
}

/** Captures of one scenario, in the order in which they happened. */
export type Captures = ReturnType<typeof readSheet>

export function readSheet(sheet: CaptureSheet) {
  return {
    tools: [...sheet.tools.values()],
    subagents: [...sheet.subagents.values()],
    expansions: [...sheet.expansions],
    hookResponses: [...sheet.hookResponses],
    timing: defined({ starts: [...sheet.starts], end: sheet.end }),
    /** The agent stopped by itself. */
    stopSeen: sheet.stopSeen,
  }
}

/** What the stream shows and our hooks do not see: responses of the plugin's hooks, and ends of calls that no hook saw. */
export function captureEvent(sheet: CaptureSheet, event: Untimed<AgentEvent>, timestamp: number): void {
  if (event.event === 'tool_result') fillSuccess(sheet, event)
  if (event.event === 'session' && event.session_id !== undefined) sheet.sessions.add(event.session_id)
  const response = event.event === 'hook' ? responseOf(event, timestamp) : null
  if (response !== null) sheet.hookResponses.push(response)
}

/** null for a hook that only started. */
export function responseOf(event: Untimed<HookRunEvent>, timestamp: number): HookResponse | null {
  if (event.outcome === 'started') return null
  const { hook, name = hook, hook_id, stdout = event.output ?? '', stderr = '', exit_code } = event
  return {
    hook_name: name,
    hook_event: hook,
    ...(hook_id !== undefined && { hook_id }),
    stdout,
    stderr,
    ...(exit_code !== undefined && { exit_code }),
    outcome: outcomes.find((outcome) => outcome === event.outcome) ?? 'unknown',
    timestamp,
  }
}

const outcomes = ['success', 'error', 'cancelled'] as const

/** A call that was denied, or that ended too late for a hook, still has a result in the conversation. */
function fillSuccess(sheet: CaptureSheet, { id, output, is_error }: Untimed<ToolResultEvent>): void {
  const begun = id === undefined ? undefined : sheet.tools.get(id)
  if (begun === undefined || begun.success !== undefined || is_error === undefined) return
  sheet.tools.set(begun.tool_use_id, {
    ...begun,
    success: !is_error,
    ...(is_error ? { error: output } : { result: cutResult(output) }),
  })
}

const maxCharacters = 16_384

/** The result, cut when it is very large: tools can read files of any size. */
function cutResult(result: unknown): unknown {
  const words = typeof result === 'string' ? result : JSON.stringify(result)
  if (words === undefined || words.length <= maxCharacters) return result
  return `${words.slice(0, maxCharacters)} [cut: ${words.length} characters]`
}

type Input = SeenHook['input']
type Handler = (sheet: CaptureSheet, input: Input, timestamp: number) => void

/** One handler per event of the agent, shared by all scenarios: each writes to the sheet it is given. */
export const hookHandlers: Readonly<Record<string, Handler>> = {
  PreToolUse(sheet, input, timestamp) {
    const id = text(input.tool_use_id)
    if (id === undefined) return
    const agent_id = text(input.agent_id)
    const agent_type = text(input.agent_type)
    // It continues after a stop: a hook of the plugin may have blocked the stop.
    if (agent_id === undefined) sheet.stopSeen = false
    sheet.tools.set(id, {
      name: text(input.tool_name) ?? 'unknown',
      input: input.tool_input,
      tool_use_id: id,
      timestamp,
      // An agent type without an id is the main thread of a session that runs as that agent.
      ...(agent_id !== undefined && { agent_id, ...(agent_type !== undefined && { agent_type }) }),
    })
  },
  PostToolUse(sheet, input) {
    finishTool(sheet, input, { success: true, result: cutResult(input.tool_response) })
  },
  PostToolUseFailure(sheet, input) {
    const error = text(input.error)
    finishTool(sheet, input, {
      success: false,
      ...(error !== undefined && { error }),
      ...(input.is_interrupt === true && { is_interrupt: true }),
    })
  },
  SubagentStart(sheet, input, timestamp) {
    const id = text(input.agent_id)
    if (id === undefined) return
    sheet.subagents.set(id, {
      agent_id: id,
      agent_type: text(input.agent_type) ?? 'unknown',
      start_timestamp: timestamp,
    })
  },
  SubagentStop(sheet, input, timestamp) {
    // The CLI's own subagent that compacts a conversation stops without having started.
    const begun = sheet.subagents.get(text(input.agent_id) ?? '')
    if (begun === undefined) return
    const transcript_path = text(input.agent_transcript_path)
    sheet.subagents.set(begun.agent_id, {
      ...begun,
      stop_timestamp: timestamp,
      ...(transcript_path !== undefined && { transcript_path }),
      ...(typeof input.stop_hook_active === 'boolean' && { stop_hook_active: input.stop_hook_active }),
    })
  },
  UserPromptExpansion(sheet, input, timestamp) {
    const command_name = text(input.command_name)
    if (command_name === undefined) return
    const command_source = text(input.command_source)
    sheet.expansions.push(
      defined({ command_name, command_args: text(input.command_args) ?? '', command_source, timestamp }),
    )
  },
  Stop(sheet, input) {
    if (text(input.agent_id) === undefined) sheet.stopSeen = true
  },
  SessionStart(sheet, input, timestamp) {
    const model = text(input.model)
    sheet.starts.push(defined({ source: text(input.source) ?? 'unknown', timestamp, model }))
  },
  SessionEnd(sheet, input, timestamp) {
    sheet.end = { reason: text(input.reason) ?? 'unknown', timestamp }
  },
}

/** A call without a captured start belongs to another conversation. */
function finishTool(
  sheet: CaptureSheet,
  input: Input,
  end: {
    readonly success: boolean
    readonly result?: unknown
    readonly error?: string
    readonly is_interrupt?: true
  },
): void {
  const begun = sheet.tools.get(text(input.tool_use_id) ?? '')
  if (begun !== undefined) sheet.tools.set(begun.tool_use_id, { ...begun, ...end })
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
