import { isAbsolute } from 'node:path'
import type { HookEventBase, ToolOutcome } from '../../core/hook-event.ts'
import { asAmount, asArray, asObject, asString, type JsonObject } from '../../core/json-fields.ts'

/** The first of these fields that is a non-empty text. */
export function textIn(fields: JsonObject, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = asString(fields[name])
    if (value !== undefined && value !== '') return value
  }
  return null
}

/** The first of these fields that is an absolute path. */
export function firstAbsolutePath(...candidates: readonly unknown[]): string | null {
  for (const value of candidates) if (typeof value === 'string' && isAbsolute(value)) return value
  return null
}

/** The origin of an event in payloads with Claude Code's shape. */
export function claudeSender(payload: JsonObject): Pick<HookEventBase, 'session' | 'agentId' | 'agentType'> {
  return {
    session: textIn(payload, 'session_id') ?? 'unknown',
    agentId: textIn(payload, 'agent_id'),
    // Empty on purpose: it is the summariser of a compaction.
    agentType: asString(payload.agent_type) ?? null,
  }
}

const plain: ToolOutcome = {
  kind: 'unknown',
  exitCode: null,
  output: '',
  interrupted: false,
  timedOut: false,
  background: false,
}

export function outcomeOf(known: Partial<ToolOutcome>): ToolOutcome {
  return { ...plain, ...known }
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
