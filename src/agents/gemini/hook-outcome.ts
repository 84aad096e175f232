import type { ToolCall, ToolOutcome } from '../../core/hook-event.ts'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { outcomeOf, resultText } from '../hooks/outcome.ts'
import { readShellOutput } from './shell-output.ts'

/** What the model is told is all there is; `error` is set when the tool itself failed. */
export function geminiOutcome(payload: JsonObject, { action }: ToolCall): ToolOutcome {
  const response = asObject(payload.tool_response) ?? {}
  const text = resultText(response.llmContent)
  const failed = response.error !== undefined && response.error !== null
  if (action.kind === 'shell') return shellOutcome(unwrapped(text), action.background, failed)
  return outcomeOf({ kind: failed ? 'failure' : 'success', output: text })
}

function shellOutcome(text: string, askedForBackground: boolean, failed: boolean): ToolOutcome {
  const background = askedForBackground || /^Command (?:moved to|is running in) background\b/.test(text)
  const timedOut = text.startsWith('Command was automatically cancelled because it exceeded the timeout')
  const interrupted = text.startsWith('Command was cancelled by user')
  if (background || timedOut || interrupted)
    return outcomeOf({ output: text, background, timedOut, interrupted })
  const { output, exitCode } = readShellOutput(text)
  const kind = failed || (exitCode ?? 0) !== 0 ? 'failure' : exitCode === 0 ? 'success' : 'unknown'
  return outcomeOf({ kind, exitCode: failed && exitCode === 0 ? null : (exitCode ?? null), output })
}

function unwrapped(text: string): string {
  return /^<untrusted_context>\n([\s\S]*)\n<\/untrusted_context>$/.exec(text)?.[1] ?? text
}
