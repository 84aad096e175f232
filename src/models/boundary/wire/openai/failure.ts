import type { JsonObject } from '../../../../core/json-fields.ts'
import type { WireFailure } from '../../contract.ts'
import type { EncodedReply, ReplyReading } from '../contract.ts'
import { asJson } from '../json.ts'
import { wordOf } from './words.ts'

interface Words {
  readonly type: string
  readonly code: string | null
}

const wordsByStatus: Readonly<Record<number, Words>> = {
  400: { type: 'invalid_request_error', code: null },
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  403: { type: 'invalid_request_error', code: 'permission_denied' },
  404: { type: 'invalid_request_error', code: 'model_not_found' },
  429: { type: 'requests', code: 'rate_limit_exceeded' },
}

export function encodeFailure({ status, message, type, retryAfterSecs }: WireFailure): EncodedReply {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSecs !== undefined && { 'retry-after': String(retryAfterSecs) }),
    },
    chunks: [JSON.stringify({ error: { message, ...wordsFor(status, type), param: null } })],
  }
}

/** The error of a body or of an event; null when it has none. A code says more than a type, unless it is a number. */
export function readError(error: unknown): NonNullable<ReplyReading['error']> | null {
  if (typeof error === 'string') return { type: null, message: error }
  const fields = asJson(error)
  const message = wordOf(fields.message)
  const type = wordOf(fields.code) ?? wordOf(fields.type)
  if (message === null && type === null) return null
  return { type, message: message ?? type ?? '' }
}

/** An answer that is an error instead of what was asked for. Some servers leave out the envelope. */
export function errorOfBody(body: JsonObject): NonNullable<ReplyReading['error']> | null {
  return readError(body.error) ?? (body.object === 'error' ? readError(body) : null)
}

function wordsFor(status: number, type: string | undefined): Words {
  if (type !== undefined) return { type, code: type }
  return (
    wordsByStatus[status] ??
    (status < 500 ? { type: 'invalid_request_error', code: null } : { type: 'server_error', code: null })
  )
}

export function jsonReply(body: unknown): EncodedReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(body)],
  }
}

export function streamReply(chunks: readonly string[]): EncodedReply {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    chunks,
  }
}

export function encodeModels(models: readonly string[]): EncodedReply {
  return jsonReply({
    object: 'list',
    data: models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'gantry' })),
  })
}

export function encodeCount(tokens: number): EncodedReply {
  return jsonReply({ object: 'response.input_tokens', input_tokens: tokens })
}
