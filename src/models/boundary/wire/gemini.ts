import type { WireFailure } from '../contract.ts'
import type { EncodedReply, WireFormat, WireRoute } from './contract.ts'
import { encodeTurn } from './gemini/encode-turn.ts'
import { mergeDeltas } from './gemini/merge-deltas.ts'
import { readCall } from './gemini/read-call.ts'
import { createReader } from './gemini/reader.ts'

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

/** Google tells the time to wait in the body, and Gemini CLI reads it there. */
function encodeFailure({ status, message, type, retryAfterSecs }: WireFailure): EncodedReply {
  const error = {
    code: status,
    message,
    status: type ?? words[status] ?? (status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL'),
    ...(retryAfterSecs !== undefined && {
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSecs}s` }],
    }),
  }
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=UTF-8',
      ...(retryAfterSecs !== undefined && { 'retry-after': String(retryAfterSecs) }),
    },
    chunks: [JSON.stringify({ error })],
  }
}

/** Google's generateContent, as Gemini CLI speaks it. Streams are always server-sent events. */
export const gemini: WireFormat = {
  api: 'gemini',
  route,
  readCall,
  encode: encodeTurn,
  encodeCount,
  encodeModels,
  encodeFailure,
  createReader,
  mergeDeltas,
}

/** Model and method stand in the path, behind a version or none. */
function route(method: string, path: string): WireRoute | null {
  if (method === 'GET') return /(?:^|\/)models\/?$/.test(path) ? { kind: 'list_models' } : null
  const found = /(?:^|\/)models\/([^/:]+):([A-Za-z]+)$/.exec(path)
  if (method !== 'POST' || found === null) return null
  const model = decode(found[1] ?? '')
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

function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function encodeCount(tokens: number): EncodedReply {
  return document({ totalTokens: tokens })
}

function encodeModels(models: readonly string[]): EncodedReply {
  return document({
    models: models.map((id) => ({
      name: `models/${id}`,
      displayName: id,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })),
  })
}

function document(body: object): EncodedReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    chunks: [JSON.stringify(body)],
  }
}
