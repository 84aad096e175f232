import { asArray } from '../../../core/json-fields.ts'
import type { SseEvent, WireFormat } from './contract.ts'
import { joinDeltas } from './join-deltas.ts'
import { jsonText } from './json.ts'
import { encodeCount, encodeFailure, encodeModels } from './openai/failure.ts'
import { encode } from './openai-responses/item-events.ts'
import { readCall } from './openai-responses/read-call.ts'
import { createReader } from './openai-responses/reader.ts'

/** OpenAI Responses, as Codex and OpenAI's own libraries speak it. */
export const openaiResponses: WireFormat = {
  api: 'openai-responses',
  route: (method, path) => {
    if (method === 'POST' && /\/responses\/?$/.test(path)) return { kind: 'generate' }
    if (method === 'POST' && /\/responses\/input_tokens\/?$/.test(path)) return { kind: 'count_tokens' }
    return method === 'GET' && /\/models\/?$/.test(path) ? { kind: 'list_models' } : null
  },
  readCall,
  encode,
  encodeCount,
  encodeModels,
  encodeFailure,
  createReader,
  mergeDeltas,
}

/** Joins deltas of the same text of the same item. The first one's number stays, so numbers may have gaps. */
function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
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
