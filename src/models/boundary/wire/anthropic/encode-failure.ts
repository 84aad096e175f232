import type { WireFailure } from '../../contract.ts'
import type { EncodedReply } from '../contract.ts'

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

export function encodeFailure({ status, message, type, retryAfterSecs }: WireFailure): EncodedReply {
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
