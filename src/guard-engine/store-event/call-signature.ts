import type { ToolCall } from '../../core/hook-event.ts'
import { isObject } from '../../core/json-fields.ts'
import { sha256 } from '../../io/sha256.ts'

const signatureChars = 16
const maxDepth = 40
/** What a call says about itself changes nothing about what it does. */
const remarks = new Set(['description', 'explanation', 'reason', 'justification', 'thought'])

/** The same for the same tool with the same input, whatever the order of its keys and whatever it says about itself. */
export function callSignature({ tool, input }: Pick<ToolCall, 'tool' | 'input'>): string {
  return sha256(`${tool}\n${canonical(withoutRemarks(input), 0)}`).slice(0, signatureChars)
}

function withoutRemarks(input: unknown): unknown {
  if (!isObject(input)) return input
  return Object.fromEntries(Object.entries(input).filter(([key]) => !remarks.has(key)))
}

function canonical(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.replaceAll('\r\n', '\n').trim())
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  // Deeper than any tool's input: what differs only below is taken for the same.
  if (depth >= maxDepth) return '…'
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, depth + 1)}`).join(',')}}`
}
