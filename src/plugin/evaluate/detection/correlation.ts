import type { PluginTranscript, ToolCapture } from '../../execute/contract.ts'

/** How calls ended, by their ids: true = no error. A call of which nobody knows is not in it. */
export type ToolOutcomes = ReadonlyMap<string, boolean>

/** What the session's hooks saw wins over what the transcript says. */
export function toolOutcomes(
  captures: readonly ToolCapture[],
  transcript: PluginTranscript | null,
): ToolOutcomes {
  const outcomes = new Map<string, boolean>()
  for (const event of transcript?.events ?? [])
    if (event.type === 'tool_result') outcomes.set(event.tool_use_id, event.is_error !== true)
  for (const { success, tool_use_id } of captures)
    if (success !== undefined) outcomes.set(tool_use_id, success)
  return outcomes
}

/** Whether a captured call worked; null when nobody knows. */
export function succeeded(
  { success, tool_use_id }: Pick<ToolCapture, 'success' | 'tool_use_id'>,
  outcomes: ToolOutcomes,
): boolean | null {
  return success ?? outcomes.get(tool_use_id) ?? null
}
