import type { ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import { durationIn, exitCodeFrom, outcomeOf, resultText } from '../hooks/outcome.ts'

/**
 * Of PostToolUse, which comes only after success. A shell's exit code is not in it: it is 0, unless the command was only
 * started, ran into its time, was interrupted, or ended with another code that Claude Code takes for an answer, as grep's 1.
 */
export function successOutcome(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const response = asObject(payload.tool_response)
  const duration = durationIn(payload, 'duration_ms')
  const background = isSet(response?.backgroundTaskId) || response?.status === 'async_launched'
  if (action.kind !== 'shell')
    return outcomeOf({ kind: 'success', output: resultText(payload.tool_response), background, ...duration })
  const timedOut = isSet(response?.timedOutAfterMs)
  const interrupted = response?.interrupted === true
  const started = background || action.background
  const output = [asString(response?.stdout), asString(response?.stderr)].filter((text) => text).join('\n')
  const ended = response !== null && !timedOut && !interrupted && !started
  return outcomeOf({
    kind: ended ? 'success' : 'unknown',
    exitCode: ended && !isSet(response.returnCodeInterpretation) ? 0 : null,
    output,
    interrupted,
    timedOut,
    background: started,
    ...duration,
  })
}

/** Of PostToolUseFailure: a shell's error begins with a line `Exit code N`. */
export function failureOutcome(payload: JsonObject): ToolOutcome {
  const error = asString(payload.error) ?? resultText(payload.error)
  return outcomeOf({
    kind: 'failure',
    exitCode: exitCodeFrom(/^Exit code (\d+)\b/.exec(error)?.[1]),
    output: error,
    interrupted: payload.is_interrupt === true,
    timedOut: /^(?:Exit code \d+\n)?Command timed out after\b/.test(error),
    ...durationIn(payload, 'duration_ms'),
  })
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== ''
}
