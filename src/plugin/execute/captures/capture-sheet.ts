import type { AgentEvent, HookRunEvent, ToolResultEvent, Untimed } from '../../../core/event.ts'
import type {
  ExpansionCapture,
  HookResponse,
  SessionTiming,
  SubagentCapture,
  ToolCapture,
} from '../contract.ts'

/** What was captured of one scenario, in the order in which it happened. */
export interface Captures {
  readonly tools: readonly ToolCapture[]
  readonly subagents: readonly SubagentCapture[]
  readonly expansions: readonly ExpansionCapture[]
  readonly hookResponses: readonly HookResponse[]
  readonly timing: SessionTiming
  /** The agent came to its end by itself. */
  readonly stopSeen: boolean
}

/**
 * The state of one scenario's captures. Nothing else holds any: a new sheet is a new beginning, for the next scenario as for
 * another try at the same one.
 */
export interface CaptureSheet {
  readonly tools: Map<string, ToolCapture>
  readonly subagents: Map<string, SubagentCapture>
  readonly expansions: ExpansionCapture[]
  readonly hookResponses: HookResponse[]
  readonly starts: SessionTiming['starts'][number][]
  /** Sessions of the agent that belong to this scenario. */
  readonly sessions: Set<string>
  end?: SessionTiming['end']
  stopSeen: boolean
}

export function newSheet(): CaptureSheet {
  return {
    tools: new Map(),
    subagents: new Map(),
    expansions: [],
    hookResponses: [],
    starts: [],
    sessions: new Set(),
    stopSeen: false,
  }
}

export function readSheet(sheet: CaptureSheet): Captures {
  return {
    tools: [...sheet.tools.values()],
    subagents: [...sheet.subagents.values()],
    expansions: [...sheet.expansions],
    hookResponses: [...sheet.hookResponses],
    timing: { starts: [...sheet.starts], ...(sheet.end !== undefined && { end: sheet.end }) },
    stopSeen: sheet.stopSeen,
  }
}

/** What the stream tells that no hook of ours was told: answers of the plugin's own hooks, and how a call ended that no hook saw end. */
export function captureEvent(sheet: CaptureSheet, event: Untimed<AgentEvent>, timestamp: number): void {
  switch (event.event) {
    case 'hook': {
      const response = responseOf(event, timestamp)
      if (response !== null) sheet.hookResponses.push(response)
      return
    }
    case 'tool_result':
      fillSuccess(sheet, event)
      return
    case 'session':
      if (event.session_id !== undefined) sheet.sessions.add(event.session_id)
      return
    default:
      return
  }
}

/** null for a hook that only began. */
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

/** A call that was denied, or whose end came too late for a hook, still has a result in the conversation. */
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

/** A result as it is, unless it is larger than any evidence needs to be: files are read by tools, and files have no limit. */
export function cutResult(result: unknown): unknown {
  const words = typeof result === 'string' ? result : JSON.stringify(result)
  if (words === undefined || words.length <= maxCharacters) return result
  return `${words.slice(0, maxCharacters)} [cut: ${words.length} characters]`
}
