import { asArray, isObject, type JsonObject } from '../../../core/json-fields.ts'
import { percentDecoded } from '../../../core/percent-decoded.ts'
import type { SseEvent, WireFormat, WireRoute } from './contract.ts'
import { encodeTurn, jsonHeaders } from './gemini/encode-turn.ts'
import { readCall } from './gemini/read-call.ts'
import { createReader } from './gemini/reader.ts'
import { joinDeltas } from './join-deltas.ts'
import { asJson, jsonReply, layOver } from './json.ts'

const words: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
}

/** Google's generateContent, as used by Gemini CLI. Streams are always server-sent events. */
export const gemini: WireFormat = {
  api: 'gemini',
  route,
  readCall,
  encode: encodeTurn,
  encodeCount: (tokens) => jsonReply({ totalTokens: tokens }, jsonHeaders),
  encodeModels: (models) =>
    jsonReply(
      {
        models: models.map((id) => ({
          name: `models/${id}`,
          displayName: id,
          supportedGenerationMethods: ['generateContent', 'countTokens'],
        })),
      },
      jsonHeaders,
    ),
  encodeFailure(failure) {
    const { status: code, message, type, retryAfterSecs } = failure
    const status = type ?? words[code] ?? (code < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL')
    // Google sends the time to wait in the body, and Gemini CLI reads it there.
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSecs}s` },
    ]
    const error = { code, message, status, ...(retryAfterSecs !== undefined && { details }) }
    return jsonReply({ error }, jsonHeaders, failure)
  },
  createReader,
  mergeDeltas,
}

/** Model and method are in the path, after an optional version. */
function route(method: string, path: string): WireRoute | null {
  if (method === 'GET') return /(?:^|\/)models\/?$/.test(path) ? { kind: 'list_models' } : null
  const found = /(?:^|\/)models\/([^/:]+):([A-Za-z]+)$/.exec(path)
  if (method !== 'POST' || found === null) return null
  const model = percentDecoded(found[1] ?? '')
  switch (found[2]) {
    case 'generateContent':
      return { kind: 'generate', model, stream: false }
    case 'streamGenerateContent':
      return { kind: 'generate', model, stream: true }
    case 'countTokens':
      return { kind: 'count_tokens', model }
    default:
      return null
  }
}

/** Every piece of a stream is a complete answer; pieces with only text of one kind are joined. */
function mergeDeltas(events: readonly SseEvent[]): readonly SseEvent[] {
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
  })
}

/** Values of the wrong type would hide those of an earlier piece. */
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

/** Undefined for a part that contains more than text, or text of the other kind. */
function textOf(
  { text, thought, thoughtSignature: _, ...others }: JsonObject,
  wanted: boolean,
): string | undefined {
  const plain = typeof text === 'string' && (thought === true) === wanted && Object.keys(others).length === 0
  return plain ? text : undefined
}
