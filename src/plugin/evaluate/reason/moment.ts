import type { Detection } from '../contract.ts'

/** When a component fired, as far as it can be told: the time of day and the call. Empty when neither is known. */
export function moment({ timestamp, tool_use_id }: Pick<Detection, 'timestamp' | 'tool_use_id'>): string {
  const time = timestamp > earliest && timestamp < latest ? new Date(timestamp).toISOString().slice(11) : null
  const call = tool_use_id === undefined || tool_use_id === '' ? null : `call ${tool_use_id.slice(0, 80)}`
  const told = [time, call].filter((part) => part !== null)
  return told.length === 0 ? '' : ` at ${told.join(', ')}`
}

/** Milliseconds since the epoch of 2001 and 2286: what lies outside is a number of another kind, or damaged. */
const earliest = 1e12
const latest = 1e13
