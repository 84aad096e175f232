import { isAbsolute } from 'node:path'
import { GantryError } from '../../core/error.ts'
import type { GuardedAgent, HookEvent, ToolOutcome } from '../../core/hook-event.ts'
import { asAmount, asArray, asObject, asString, type JsonObject } from '../../core/json-fields.ts'
import type { HookCaller } from '../hook-codec.ts'

/** The payload as an object; throws INVALID_FILE for everything else. */
export function payloadOf(agent: GuardedAgent, payload: unknown): JsonObject {
  const fields = asObject(payload)
  if (fields === null)
    throw new GantryError('INVALID_FILE', `the payload of ${agent}'s hook is not a JSON object`, {
      hint: 'Give the payload on stdin, as the agent writes it.',
    })
  return fields
}

/** The first of these fields that is a text and not empty. */
export function textIn(fields: JsonObject, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = asString(fields[name])
    if (value !== undefined && value !== '') return value
  }
  return null
}

/** The first that is an absolute path. */
export function pathAmong(...candidates: readonly unknown[]): string | null {
  for (const value of candidates) if (typeof value === 'string' && isAbsolute(value)) return value
  return null
}

/** Where the agent works; throws INVALID_FILE when it is not given, because every relative path would be a guess. */
export function workingDirectory(agent: GuardedAgent, ...candidates: readonly unknown[]): string {
  const path = pathAmong(...candidates)
  if (path === null)
    throw new GantryError('INVALID_FILE', `the payload of ${agent}'s hook has no working directory`, {
      hint: 'It needs a field `cwd` with an absolute path.',
    })
  return path
}

/** Throws INVALID_FILE when neither the payload nor the command line names the event. */
export function eventNameOf(agent: GuardedAgent, name: string | null): string {
  if (name === null)
    throw new GantryError('INVALID_FILE', `the payload of ${agent}'s hook does not name its event`, {
      hint: 'Name the event behind --agent on the command line.',
    })
  return name
}

/** The event's name where payloads have the shape of Claude Code's. */
export function claudeEventName(payload: JsonObject, caller: HookCaller): string | null {
  return textIn(payload, 'hook_event_name') ?? caller.event
}

/** Whose event it is, there. */
export function claudeSender(payload: JsonObject): Pick<HookEvent, 'session' | 'agentId' | 'agentType'> {
  return {
    session: textIn(payload, 'session_id') ?? 'unknown',
    agentId: textIn(payload, 'agent_id'),
    // Empty on purpose: it is the summariser of a compaction.
    agentType: asString(payload.agent_type) ?? null,
  }
}

/** The payload says that this is the first stop. */
export function isFirstClaudeStop({ stop_hook_active }: JsonObject): boolean {
  return stop_hook_active === false
}

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
