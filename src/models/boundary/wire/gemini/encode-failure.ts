import type { WireFailure } from '../../contract.ts'
import type { EncodedReply } from '../contract.ts'

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
export function encodeFailure({ status, message, type, retryAfterSecs }: WireFailure): EncodedReply {
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
