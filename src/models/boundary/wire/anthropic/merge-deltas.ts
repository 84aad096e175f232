import type { SseEvent } from '../contract.ts'
import { joinDeltas } from '../join-deltas.ts'
import { asJson, layOver } from '../json.ts'
import { readDelta } from './delta.ts'

export function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  return joinDeltas(events, {
    read: (body) => {
      const delta = body.type === 'content_block_delta' ? readDelta(body.delta) : null
      if (delta === null || typeof body.index !== 'number') return null
      return { run: `${body.index} ${delta.field}`, text: delta.text, ends: false }
    },
    write: (bodies, text) => {
      const delta = layOver(bodies.map((body) => asJson(body.delta)))
      const field = readDelta(delta)?.field ?? 'text'
      return { ...layOver(bodies), delta: { ...delta, [field]: text } }
    },
    isAside: ({ type }) => type === 'ping',
  })
}
