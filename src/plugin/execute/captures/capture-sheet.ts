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
