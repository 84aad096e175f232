import { asArray } from '../../../../core/json-fields.ts'
import type { SseEvent } from '../contract.ts'
import { joinDeltas } from '../join-deltas.ts'
import { jsonText } from '../json.ts'

/** Joins deltas of the same text of the same item. The first one's number stays, so numbers may have gaps. */
export function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  return joinDeltas(events, {
    read: (body) => {
      const { type, delta, sequence_number, obfuscation, logprobs, ...place } = body
      if (typeof type !== 'string' || !type.endsWith('.delta') || typeof delta !== 'string') return null
      if (asArray(logprobs).length > 0) return null
      const keys = Object.keys(place).sort()
      const run = jsonText([type, ...keys.map((key) => [key, place[key]])])
      return run === '' ? null : { run, text: delta, ends: false }
    },
    write: ([first], delta) => ({ ...first, delta }),
    isAside: () => false,
  })
}
