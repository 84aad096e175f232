import type { Execution, PluginTranscript } from '../../execute/contract.ts'
import type { InputMatch } from '../pattern/input-match.ts'

export interface GradedCall {
  readonly name: string
  readonly input: unknown
}

/**
 * Every call the model made, in order, whether or not it worked and in subagents too: what it asked for is what graders count.
 * Without a transcript what the hooks saw has to do.
 */
export function toolCalls(
  transcript: PluginTranscript | null,
  { detected_tools }: Execution,
): readonly GradedCall[] {
  if (transcript === null) return detected_tools
  return transcript.events.flatMap((event) =>
    event.type === 'assistant' ? (event.edit.message.tool_calls ?? []) : [],
  )
}

/** The places of the calls that fit. */
export function fittingCalls(
  calls: readonly GradedCall[],
  tool: string,
  match: Extract<InputMatch, { kind: 'ok' }>,
): readonly number[] {
  return calls.flatMap(({ name, input }, index) => (name === tool && match.fits(input) ? [index] : []))
}
