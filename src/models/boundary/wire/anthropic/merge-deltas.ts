import type { SseEvent } from '../contract.ts'
import { joinDeltas } from '../join-deltas.ts'
import { asJson, layOver } from '../json.ts'

export function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  return joinDeltas(events, {
    read: (body) => {
      const delta = body.type === 'content_block_delta' ? readDelta(body.delta) : null
      if (delta === null || typeof body.index !== 'number') return null
      return { run: `${body.index} ${delta.field}`, text: delta.text }
    },
    write: (bodies, text) => {
      const delta = layOver(bodies.map((body) => asJson(body.delta)))
      const field = readDelta(delta)?.field ?? 'text'
      return { ...layOver(bodies), delta: { ...delta, [field]: text } }
    },
    isAside: ({ type }) => type === 'ping',
  })
}

/** The field with the text of each kind of delta. */
const growing = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json' } as const

/** null for a delta that adds no text, such as a signature or a citation. */
export function readDelta(value: unknown) {
  const delta = asJson(value)
  const field = isGrowing(delta.type) ? growing[delta.type] : undefined
  const text = field === undefined ? undefined : delta[field]
  return field !== undefined && typeof text === 'string' ? { field, text } : null
}

function isGrowing(type: unknown): type is keyof typeof growing {
  return typeof type === 'string' && Object.hasOwn(growing, type)
}
