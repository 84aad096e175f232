import type { Execution, PluginTranscript, TranscriptEvent } from '../../execute/contract.ts'
import type { PluginScenario } from '../../generate/contract.ts'

/**
 * A trial as Claude Code prints it with `--output-format stream-json`, one message per line: what graders of the format look at
 * as `trace`. As there, neither the prompt nor what was said before it is among the lines.
 */
export function traceLines(
  transcript: PluginTranscript | null,
  { user_prompt: prompt }: Pick<PluginScenario, 'user_prompt'>,
  { final_text, termination_type }: Pick<Execution, 'final_text' | 'termination_type'>,
): readonly string[] {
  const events = transcript?.events ?? []
  const asked = events.findLastIndex(
    (event) =>
      event.type === 'user' &&
      event.parent_tool_use_id === undefined &&
      event.edit.message.content === prompt,
  )
  const result = {
    type: 'result',
    subtype: termination_type === 'clean' ? 'success' : 'error_during_execution',
    is_error: termination_type !== 'clean',
    result: final_text ?? '',
  }
  return [...events.slice(asked + 1).flatMap(linesOf), result].map((line) => JSON.stringify(line))
}

function linesOf(event: TranscriptEvent): readonly object[] {
  const parent_tool_use_id = event.parent_tool_use_id ?? null
  const line = (role: 'user' | 'assistant', block: object) => ({
    type: role,
    message: { role, content: [block] },
    parent_tool_use_id,
  })
  if (event.type === 'tool_result') {
    const { tool_use_id, result, is_error } = event
    return [
      line('user', {
        tool_use_id,
        type: 'tool_result',
        content: result,
        ...(is_error === true && { is_error }),
      }),
    ]
  }
  const { content, tool_calls: calls = [] } = event.edit.message
  return [
    ...(content === '' ? [] : [line(event.type, { type: 'text', text: content })]),
    ...calls.map(({ id, name, input }) => line('assistant', { type: 'tool_use', id, name, input })),
  ]
}
