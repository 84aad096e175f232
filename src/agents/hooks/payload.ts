import { isAbsolute } from 'node:path'
import { GantryError } from '../../core/error.ts'
import type { GuardedAgent } from '../../core/hook-event.ts'
import { asObject, asString, type JsonObject } from '../../core/json-fields.ts'

/** The payload as an object; throws INVALID_FILE for everything else. */
export function payloadOf(agent: GuardedAgent, payload: unknown): JsonObject {
  const fields = asObject(payload)
  if (fields === null)
    throw new GantryError('INVALID_FILE', `the payload of ${agent}'s hook is no JSON object`, {
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

/** Where the agent works; throws INVALID_FILE when nobody tells, because every relative path would be a guess. */
export function workingDirectory(agent: GuardedAgent, ...candidates: readonly unknown[]): string {
  const path = pathAmong(...candidates)
  if (path === null)
    throw new GantryError('INVALID_FILE', `the payload of ${agent}'s hook tells no working directory`, {
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
