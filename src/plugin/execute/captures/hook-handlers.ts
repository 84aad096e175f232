import type { SeenHook } from '../../../agents/contract.ts'
import { type CaptureSheet, cutResult } from './capture-sheet.ts'

type Input = SeenHook['input']
type Handler = (sheet: CaptureSheet, input: Input, timestamp: number) => void

/** One handler per event of the agent, made once and shared by all scenarios: each writes on the sheet it is given. */
export const hookHandlers: Readonly<Record<string, Handler>> = {
  PreToolUse(sheet, input, timestamp) {
    const id = text(input.tool_use_id)
    if (id === undefined) return
    const agent_id = text(input.agent_id)
    const agent_type = text(input.agent_type)
    // It wanted to stop, and goes on: a hook of the plugin may have refused.
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
    // The one that sums up a conversation stops without having started: it is the agent's own.
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
    sheet.expansions.push({
      command_name,
      command_args: text(input.command_args) ?? '',
      ...(command_source !== undefined && { command_source }),
      timestamp,
    })
  },
  Stop(sheet, input) {
    if (text(input.agent_id) === undefined) sheet.stopSeen = true
  },
  SessionStart(sheet, input, timestamp) {
    const model = text(input.model)
    sheet.starts.push({
      source: text(input.source) ?? 'unknown',
      timestamp,
      ...(model !== undefined && { model }),
    })
  },
  SessionEnd(sheet, input, timestamp) {
    sheet.end = { reason: text(input.reason) ?? 'unknown', timestamp }
  },
}

/** A call nobody saw begin belongs to somebody else. */
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
