import type { WireFailure } from '../contract.ts'
import { encodeTurn } from './anthropic/encode-turn.ts'
import { mergeDeltas } from './anthropic/merge-deltas.ts'
import { readCall } from './anthropic/read-call.ts'
import { createReader } from './anthropic/reader.ts'
import type { EncodedReply, WireFormat, WireRoute } from './contract.ts'

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

function encodeFailure({ status, message, type, retryAfterSecs }: WireFailure): EncodedReply {
  const requestId = `req_failure_${status}`
  const error = {
    type: type ?? types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'),
    message,
  }
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'request-id': requestId,
      ...(retryAfterSecs !== undefined && { 'retry-after': String(retryAfterSecs) }),
    },
    chunks: [JSON.stringify({ type: 'error', error, request_id: requestId })],
  }
}

/** Anthropic's Messages API, as Claude Code and the Agent SDK speak it. */
export const anthropic: WireFormat = {
  api: 'anthropic',
  route,
  readCall,
  encode: encodeTurn,
  encodeCount,
  encodeModels,
  encodeFailure,
  createReader,
  mergeDeltas,
}

/** Whatever stands before: clients are given a base with and without `/v1`. */
function route(method: string, path: string): WireRoute | null {
  const place = /(?:^|\/)(messages|messages\/count_tokens|v1\/models)\/?$/.exec(path)?.[1]
  if (method === 'POST' && place === 'messages') return { kind: 'generate' }
  if (method === 'POST' && place === 'messages/count_tokens') return { kind: 'count_tokens' }
  if (method === 'GET' && place === 'v1/models') return { kind: 'list_models' }
  return null
}

function encodeCount(tokens: number): EncodedReply {
  return document({ input_tokens: tokens })
}

function encodeModels(models: readonly string[]): EncodedReply {
  return document({
    data: models.map((id) => ({
      type: 'model',
      id,
      display_name: id,
      created_at: '2025-01-01T00:00:00Z',
    })),
    has_more: false,
    first_id: models[0] ?? null,
    last_id: models.at(-1) ?? null,
  })
}

function document(body: object): EncodedReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(body)],
  }
}
