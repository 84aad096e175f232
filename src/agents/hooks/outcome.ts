import type { ToolOutcome } from '../../core/hook-event.ts'
import { asAmount, asArray, asObject, asString, type JsonObject } from '../../core/json-fields.ts'

const plain: ToolOutcome = {
  kind: 'unknown',
  exitCode: null,
  output: '',
  interrupted: false,
  timedOut: false,
  background: false,
}

export function outcomeOf(told: Partial<ToolOutcome>): ToolOutcome {
  return { ...plain, ...told }
}

/** The text of a result: a string, text parts, or a list of them. Never a whole object as text: it may be huge. */
export function resultText(result: unknown): string {
  const text = asString(result) ?? asString(asObject(result)?.text)
  if (text !== undefined) return text
  const parts = Array.isArray(result) ? result : asArray(asObject(result)?.content)
  const texts = parts.map((part) => asString(part) ?? asString(asObject(part)?.text))
  return texts.filter((text) => text !== undefined).join('\n')
}

export function durationIn(fields: JsonObject, name: string): { durationMs?: number } {
  const durationMs = asAmount(fields[name])
  return durationMs === undefined ? {} : { durationMs }
}

/** An exit code a process can have. */
export function exitCodeFrom(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : null
}
