import { asArray, isObject, type JsonObject } from '../../../../core/json-fields.ts'
import type { SseEvent } from '../contract.ts'
import { joinDeltas } from '../join-deltas.ts'
import { asJson, layOver } from '../json.ts'

/** Every piece of a stream is a whole answer; those that bring only text of one kind are joined. */
export function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
  return joinDeltas(events, {
    read: (body) => {
      const candidate = onlyCandidate(body)
      const parts = partsOf(candidate)
      const [first] = parts
      if (candidate === null || first === undefined || !isWhole(body)) return null
      const thought = first.thought === true
      const texts = parts.flatMap((part) => textOf(part, thought) ?? [])
      if (texts.length < parts.length) return null
      return {
        run: thought ? 'thought' : 'text',
        text: texts.join(''),
        ends: typeof candidate.finishReason === 'string',
      }
    },
    write: (bodies, text) => {
      const candidates = bodies.map((body) => onlyCandidate(body) ?? {})
      const parts = candidates.flatMap(partsOf)
      const content = {
        ...layOver(candidates.map((one) => asJson(one.content))),
        parts: [{ ...layOver(parts), text }],
      }
      return { ...layOver(bodies), candidates: [{ ...layOver(candidates), content }] }
    },
    isAside: () => false,
  })
}

/** Facts of the wrong kind would hide those of an earlier piece. */
function isWhole({ modelVersion, usageMetadata }: JsonObject): boolean {
  return (
    ['string', 'undefined'].includes(typeof modelVersion) &&
    (usageMetadata === undefined || isObject(usageMetadata))
  )
}

function onlyCandidate(body: JsonObject): JsonObject | null {
  const [candidate, ...others] = asArray(body.candidates)
  return isObject(candidate) && others.length === 0 && body.error === undefined ? candidate : null
}

function partsOf(candidate: JsonObject | null): readonly JsonObject[] {
  return asArray(asJson(candidate?.content).parts).map(asJson)
}

/** Undefined for a part that holds more than text, or text of the other kind. */
function textOf(
  { text, thought, thoughtSignature: _, ...others }: JsonObject,
  wanted: boolean,
): string | undefined {
  const plain = typeof text === 'string' && (thought === true) === wanted && Object.keys(others).length === 0
  return plain ? text : undefined
}
