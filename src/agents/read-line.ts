import type { AgentEvent, Untimed } from '../core/event.ts'
import { type JsonObject, parseObject } from '../core/json-fields.ts'

/** One line of a structured stream. What the parser does not know, or is no JSON, is kept as it is. */
export function readLine(
  line: string,
  read: (value: JsonObject) => readonly Untimed<AgentEvent>[],
): readonly Untimed<AgentEvent>[] {
  if (line.trim() === '') return []
  const value = parseObject(line)
  const events = value === null ? [] : read(value)
  return events.length === 0 ? [{ event: 'raw', line }] : events
}
