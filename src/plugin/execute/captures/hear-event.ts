import type { AgentEvent, HookRunEvent, ToolResultEvent, Untimed } from '../../../core/event.ts'
import type { HookResponse } from '../contract.ts'
import type { CaptureSheet } from './capture-sheet.ts'
import { cutResult } from './cut-result.ts'

/** What the stream tells that no hook of ours was told: answers of the plugin's own hooks, and how a call ended that no hook saw end. */
export function hearEvent(sheet: CaptureSheet, event: Untimed<AgentEvent>, timestamp: number): void {
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
