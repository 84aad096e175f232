import type { JsonObject } from '../../../../core/json-fields.ts'
import type { WireFailure } from '../../contract.ts'
import type { EncodedReply, ReplyReading } from '../contract.ts'
import { asJson, jsonReply } from '../json.ts'
import { nonEmptyText } from './words.ts'

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

export function encodeFailure(failure: WireFailure): EncodedReply {
  const { status, message, type } = failure
  return jsonReply({ error: { message, ...wordsFor(status, type), param: null } }, {}, failure)
}

/** The error of a body or of an event; null when it has none. A code is more specific than a type, unless it is a number. */
export function readError(error: unknown): NonNullable<ReplyReading['error']> | null {
  if (typeof error === 'string') return { type: null, message: error }
  const fields = asJson(error)
  const message = nonEmptyText(fields.message)
  const type = nonEmptyText(fields.code) ?? nonEmptyText(fields.type)
  if (message === null && type === null) return null
  return { type, message: message ?? type ?? '' }
}

/** An error answer. Some servers leave out the envelope. */
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

export function encodeModels(models: readonly string[]): EncodedReply {
  return jsonReply({
    object: 'list',
    data: models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'gantry' })),
  })
}

export function encodeCount(tokens: number): EncodedReply {
  return jsonReply({ object: 'response.input_tokens', input_tokens: tokens })
}
