import type { AgentEvent, Untimed } from '../../core/event.ts'
import { asInteger, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'

/** opencode tells of a tool when it is done: the call and its result at once. */
export function toolEvents(part: JsonObject): readonly Untimed<AgentEvent>[] {
  const state = asObject(part.state)
  if (state === null) return []
  const id = asString(part.callID)
  const tool = asString(part.tool) ?? 'unknown'
  const input = asObject(state.input)
  const exit_code = asInteger(asObject(state.metadata)?.exit)
  const command = tool === 'bash' ? asString(input?.command) : undefined
  const failed = state.status === 'error'
  return [
    defined({ event: 'tool_call' as const, id, tool, command, input: state.input }),
    defined({
      event: 'tool_result' as const,
      id,
      output: asString(failed ? state.error : state.output) ?? '',
      exit_code,
      is_error: failed || (exit_code !== undefined && exit_code !== 0),
      duration_secs: durationOf(state),
    }),
  ]
}

function durationOf(state: JsonObject): number | undefined {
  const time = asObject(state.time)
  const start = asInteger(time?.start)
  const end = asInteger(time?.end)
  return start === undefined || end === undefined || end < start ? undefined : (end - start) / 1_000
}
