import type { ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { exitCodeFrom, outcomeOf, resultText } from '../hooks/outcome.ts'

/**
 * Codex tells a hook what a command printed and not how it ended: it stays `unknown`, whatever the text looks like. A patch
 * is applied by Codex itself and begins with its own line about the exit code.
 */
export function codexOutcome(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const { tool_response: response } = payload
  const output = resultText(response)
  if (action.kind === 'patch') {
    const exitCode = exitCodeFrom(/^Exit code: (\d+)\n/.exec(output)?.[1])
    const kind = exitCode === null ? 'unknown' : exitCode === 0 ? 'success' : 'failure'
    return outcomeOf({ kind, output })
  }
  const failed = action.kind !== 'shell' && asObject(response)?.isError === true
  return outcomeOf({
    kind: failed ? 'failure' : 'unknown',
    output,
    background: action.kind === 'shell' && action.background,
  })
}
