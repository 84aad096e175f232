import { basename } from 'node:path'
import { hookEvents } from '../analyze/hooks/hook-events.ts'

/** What the matchers of an event are compared with; null when it takes no notice of them. */
export function subjectOf(event: string, payload: Readonly<Record<string, unknown>>): string | null {
  const field = subjectField(event)
  if (field === null) return null
  const value = payload[field]
  const text = typeof value === 'string' ? value : ''
  return event === 'FileChanged' ? basename(text) : text
}

/** Where in the payload it stands. */
export function subjectField(event: string): string | null {
  return hookEvents.get(event)?.matches ?? null
}
